// The standard ABI of MPI-5 (libmpi_abi.so.1): handles are pointers with small fixed values. Checked against
// the real mpi_abi.h by TestHeaders.
#include <stdint.h>

#define ABI standard

typedef struct MPI_ABI_Comm *Comm;
typedef struct MPI_ABI_Datatype *Datatype;
typedef struct MPI_ABI_Op *Op;
typedef struct MPI_ABI_Request *Request;
typedef struct MPI_ABI_Message *Message;
typedef struct MPI_ABI_Errhandler *Errhandler;
typedef struct MPI_ABI_Info *Info;
typedef struct MPI_ABI_Win *Win;
typedef intptr_t Aint;
typedef int64_t Count;

typedef struct Status {
	int source;
	int tag;
	int error;
	int internal[5];
} Status;

#define COMM_NULL ((Comm)0x100)
#define COMM_WORLD ((Comm)0x101)
#define COMM_SELF ((Comm)0x102)
#define REQUEST_NULL ((Request)0x180)
#define INFO_NULL ((Info)0x130)
#define WIN_NULL ((Win)0x110)
#define ERRORS_RETURN ((Errhandler)0x143)

#define BYTE ((Datatype)0x247)
#define DOUBLE ((Datatype)0x214)
#define FLOAT ((Datatype)0x210)
#define INT64_T ((Datatype)0x258)
#define INT32_T ((Datatype)0x250)
#define INT16_T ((Datatype)0x248)
#define INT8_T ((Datatype)0x240)
#define UINT64_T ((Datatype)0x259)
#define UINT32_T ((Datatype)0x251)
#define UINT16_T ((Datatype)0x249)
#define UINT8_T ((Datatype)0x241)
#define C_FLOAT_COMPLEX ((Datatype)0x212)
#define C_DOUBLE_COMPLEX ((Datatype)0x216)

#define SUM ((Op)0x21)
#define PROD ((Op)0x24)
#define MIN ((Op)0x22)
#define MAX ((Op)0x23)
#define LAND ((Op)0x30)
#define LOR ((Op)0x31)
#define BAND ((Op)0x28)
#define BOR ((Op)0x29)
#define BXOR ((Op)0x2a)
#define REPLACE ((Op)0x3c)
#define NO_OP ((Op)0x3d)

#define SUCCESS 0
#define ERR_OTHER 16
#define ANY_SOURCE (-1)
#define ANY_TAG (-2)
#define PROC_NULL (-3)
#define UNDEFINED (-32766)
#define TAG_UB 501
#define APPNUM 505
#define COMM_TYPE_SHARED 221
#define THREAD_SINGLE 0
#define THREAD_FUNNELED 1024
#define THREAD_SERIALIZED 2048
#define THREAD_MULTIPLE 4096
#define MODE_NOCHECK 1024
#define STATUS_IGNORE ((Status *)0)

// What Open MPI does and the calls make up for: see abi_openmpi.h.
#define NARROW_SUMS_SATURATE 0
#define WINDOWS_LOCK 0
#define ANSWERS_ARE_ALL 0
