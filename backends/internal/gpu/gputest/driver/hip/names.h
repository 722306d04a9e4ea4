/* What HIP's driver has by other names and numbers than CUDA's. What the two have by other parameters, too, hip.c has by the names
 * that begin with fake_ here. */
#ifndef FAKE_NAMES_H
#define FAKE_NAMES_H

#define PLATFORM "ROCm"

#define cuInit hipInit
#define cuGetErrorString hipDrvGetErrorString
#define cuDriverGetVersion hipDriverGetVersion
#define cuDeviceGetCount hipGetDeviceCount
#define cuDeviceGet hipDeviceGet
#define cuDeviceGetName hipDeviceGetName
#define cuDeviceGetUuid hipDeviceGetUuid
#define cuDeviceGetUuid_v2 fake_instance_uuid
#define cuDeviceGetAttribute hipDeviceGetAttribute
#define cuDevicePrimaryCtxRetain fake_retain
#define cuCtxGetCurrent fake_current
#define cuCtxPushCurrent_v2 fake_push
#define cuCtxPopCurrent_v2 fake_pop
#define cuCtxSynchronize hipDeviceSynchronize
#define cuMemGetInfo_v2 hipMemGetInfo
#define cuMemAlloc_v2 hipMalloc
#define cuMemAllocManaged hipMallocManaged
#define cuMemFree_v2 hipFree
#define cuMemHostAlloc hipHostMalloc
#define cuMemFreeHost hipHostFree
#define cuMemcpyAsync fake_copy
#define cuMemsetD8Async hipMemsetD8Async
#define cuMemsetD16Async hipMemsetD16Async
#define cuMemsetD32Async hipMemsetD32Async
#define cuStreamCreateWithPriority hipStreamCreateWithPriority
#define cuStreamDestroy_v2 hipStreamDestroy
#define cuStreamSynchronize hipStreamSynchronize
#define cuStreamQuery hipStreamQuery
#define cuStreamWaitEvent hipStreamWaitEvent
#define cuEventCreate hipEventCreateWithFlags
#define cuEventDestroy_v2 hipEventDestroy
#define cuEventRecord hipEventRecord
#define cuEventQuery hipEventQuery
#define cuEventSynchronize hipEventSynchronize
#define cuCtxRecordEvent fake_context_record
#define cuPointerGetAttribute hipPointerGetAttribute
#define cuMemGetAddressRange_v2 hipMemGetAddressRange
#define cuIpcGetMemHandle hipIpcGetMemHandle
#define cuIpcOpenMemHandle_v2 hipIpcOpenMemHandle
#define cuModuleLoadDataEx hipModuleLoadDataEx
#define cuModuleGetFunction hipModuleGetFunction
#define cuLaunchKernel hipModuleLaunchKernel

/* 6.2, and a patch */
enum { DRIVER_VERSION = 60241133 };

enum { MANAGED_MEMORY = 24, CONCURRENT_MANAGED = 9, MULTIPROCESSORS = 63, CAPABILITY_MAJOR = 23, CAPABILITY_MINOR = 61 };

/* What is current for a thread that has chosen nothing. */
#define AT_FIRST (&devices[0])

/* The last of the handles that are default streams: more than the null stream are of late versions. */
enum { LAST_DEFAULT_STREAM = 0 };

#endif
