/* What kernels know of their thread. It includes nothing, so that clang makes PTX or AMD's code of a kernel without a toolkit (make kernels), and
 * a compiler of the host the same functions for the tests' driver. */
#ifdef __NVPTX__
#define KERNEL __attribute__((nvptx_kernel)) void
#define FIRST ((long long)__nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x())
#define STEP ((long long)__nvvm_read_ptx_sreg_nctaid_x() * __nvvm_read_ptx_sreg_ntid_x())
#elif defined __AMDGCN__
#define KERNEL __attribute__((amdgpu_kernel)) void
#define FIRST ((long long)__builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x())
#define STEP ((long long)__builtin_amdgcn_grid_size_x())
#else
#define KERNEL void
extern long long fake_thread, fake_threads;
#define FIRST fake_thread
#define STEP fake_threads
#endif
