// The ABI of MPICH and its kin (Intel MPI, MVAPICH, Cray): handles are ints. Checked against the real mpi.h
// by TestHeaders.
#define ABI mpich

typedef int Comm;
typedef int Datatype;
typedef int Op;
typedef int Request;
typedef int Message;
typedef int Errhandler;
typedef int Info;
typedef int Win;
typedef long Aint;
typedef long long Count;

typedef struct Status {
	int count_lo;
	int count_hi_and_cancelled;
	int source;
	int tag;
	int error;
} Status;

#define COMM_NULL ((Comm)0x04000000)
#define COMM_WORLD ((Comm)0x44000000)
#define COMM_SELF ((Comm)0x44000001)
#define REQUEST_NULL ((Request)0x2c000000)
#define INFO_NULL ((Info)0x1c000000)
#define WIN_NULL ((Win)0x20000000)
#define ERRORS_RETURN ((Errhandler)0x54000001)

#define BYTE ((Datatype)0x4c00010d)
#define DOUBLE ((Datatype)0x4c00080b)
#define FLOAT ((Datatype)0x4c00040a)
#define INT64_T ((Datatype)0x4c00083a)
#define INT32_T ((Datatype)0x4c000439)
#define INT16_T ((Datatype)0x4c000238)
#define INT8_T ((Datatype)0x4c000137)
#define UINT64_T ((Datatype)0x4c00083e)
#define UINT32_T ((Datatype)0x4c00043d)
#define UINT16_T ((Datatype)0x4c00023c)
#define UINT8_T ((Datatype)0x4c00013b)
#define C_FLOAT_COMPLEX ((Datatype)0x4c000840)
#define C_DOUBLE_COMPLEX ((Datatype)0x4c001041)

#define SUM ((Op)0x58000003)
#define PROD ((Op)0x58000004)
#define MIN ((Op)0x58000002)
#define MAX ((Op)0x58000001)
#define LAND ((Op)0x58000005)
#define LOR ((Op)0x58000007)
#define BAND ((Op)0x58000006)
#define BOR ((Op)0x58000008)
#define BXOR ((Op)0x5800000a)
#define REPLACE ((Op)0x5800000d)
#define NO_OP ((Op)0x5800000e)

#define SUCCESS 0
#define ERR_OTHER 15
#define ANY_SOURCE (-2)
#define ANY_TAG (-1)
#define PROC_NULL (-1)
#define UNDEFINED (-32766)
#define TAG_UB 0x64400001
#define APPNUM 0x6440000d
#define COMM_TYPE_SHARED 1
#define THREAD_SINGLE 0
#define THREAD_FUNNELED 1
#define THREAD_SERIALIZED 2
#define THREAD_MULTIPLE 3
#define MODE_NOCHECK 1024
#define STATUS_IGNORE ((Status *)1)

// What Open MPI does and the calls make up for: see abi_openmpi.h.
#define NARROW_SUMS_SATURATE 0
#define WINDOWS_LOCK 0
// What it fetches and combines in memory that ranks share is over when the call returns.
#define ANSWERS_ARE_ALL 1
