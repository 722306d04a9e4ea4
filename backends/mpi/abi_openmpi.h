// The ABI of Open MPI (libmpi.so.40): handles are pointers, the predefined ones are addresses of the
// library's data, found by name. Checked against the real mpi.h by TestHeaders.
#include <stddef.h>

#define ABI openmpi

typedef struct ompi_communicator_t *Comm;
typedef struct ompi_datatype_t *Datatype;
typedef struct ompi_op_t *Op;
typedef struct ompi_request_t *Request;
typedef struct ompi_message_t *Message;
typedef struct ompi_errhandler_t *Errhandler;
typedef struct ompi_info_t *Info;
typedef struct ompi_win_t *Win;
typedef ptrdiff_t Aint;
typedef long long Count;

typedef struct Status {
	int source;
	int tag;
	int error;
	int cancelled;
	size_t ucount;
} Status;

#define COMM_NULL ((Comm)ADDRESS(ompi_mpi_comm_null))
#define COMM_WORLD ((Comm)ADDRESS(ompi_mpi_comm_world))
#define COMM_SELF ((Comm)ADDRESS(ompi_mpi_comm_self))
#define REQUEST_NULL ((Request)ADDRESS(ompi_request_null))
#define INFO_NULL ((Info)ADDRESS(ompi_mpi_info_null))
#define WIN_NULL ((Win)ADDRESS(ompi_mpi_win_null))
#define ERRORS_RETURN ((Errhandler)ADDRESS(ompi_mpi_errors_return))

#define BYTE ((Datatype)ADDRESS(ompi_mpi_byte))
#define DOUBLE ((Datatype)ADDRESS(ompi_mpi_double))
#define FLOAT ((Datatype)ADDRESS(ompi_mpi_float))
#define INT64_T ((Datatype)ADDRESS(ompi_mpi_int64_t))
#define INT32_T ((Datatype)ADDRESS(ompi_mpi_int32_t))
#define INT16_T ((Datatype)ADDRESS(ompi_mpi_int16_t))
#define INT8_T ((Datatype)ADDRESS(ompi_mpi_int8_t))
#define UINT64_T ((Datatype)ADDRESS(ompi_mpi_uint64_t))
#define UINT32_T ((Datatype)ADDRESS(ompi_mpi_uint32_t))
#define UINT16_T ((Datatype)ADDRESS(ompi_mpi_uint16_t))
#define UINT8_T ((Datatype)ADDRESS(ompi_mpi_uint8_t))
#define C_FLOAT_COMPLEX ((Datatype)ADDRESS(ompi_mpi_c_float_complex))
#define C_DOUBLE_COMPLEX ((Datatype)ADDRESS(ompi_mpi_c_double_complex))

#define SUM ((Op)ADDRESS(ompi_mpi_op_sum))
#define PROD ((Op)ADDRESS(ompi_mpi_op_prod))
#define MIN ((Op)ADDRESS(ompi_mpi_op_min))
#define MAX ((Op)ADDRESS(ompi_mpi_op_max))
#define LAND ((Op)ADDRESS(ompi_mpi_op_land))
#define LOR ((Op)ADDRESS(ompi_mpi_op_lor))
#define BAND ((Op)ADDRESS(ompi_mpi_op_band))
#define BOR ((Op)ADDRESS(ompi_mpi_op_bor))
#define BXOR ((Op)ADDRESS(ompi_mpi_op_bxor))
#define REPLACE ((Op)ADDRESS(ompi_mpi_op_replace))
#define NO_OP ((Op)ADDRESS(ompi_mpi_op_no_op))

#define SUCCESS 0
#define ERR_OTHER 16
#define ANY_SOURCE (-1)
#define ANY_TAG (-1)
#define PROC_NULL (-2)
#define UNDEFINED (-32766)
#define TAG_UB 0
#define APPNUM 4
#define COMM_TYPE_SHARED 0
#define THREAD_SINGLE 0
#define THREAD_FUNNELED 1
#define THREAD_SERIALIZED 2
#define THREAD_MULTIPLE 3
#define MODE_NOCHECK 1
#define STATUS_IGNORE ((Status *)0)

// What this ABI's library does that the calls make up for. Its vector code adds integers of 8 and 16 bits with
// saturation, where C and NumPy wrap around.
#define NARROW_SUMS_SATURATE 1
// Its windows take a lock before they combine elements, but for a rank that has the part alone by MPI_Win_lock.
#define WINDOWS_LOCK 1
// An answer to what it fetches may be there while it still has that lock.
#define ANSWERS_ARE_ALL 0

#define DATA(X) \
	X(ompi_mpi_comm_null) \
	X(ompi_mpi_comm_world) \
	X(ompi_mpi_comm_self) \
	X(ompi_request_null) \
	X(ompi_mpi_info_null) \
	X(ompi_mpi_win_null) \
	X(ompi_mpi_errors_return) \
	X(ompi_mpi_byte) \
	X(ompi_mpi_double) \
	X(ompi_mpi_float) \
	X(ompi_mpi_int64_t) \
	X(ompi_mpi_int32_t) \
	X(ompi_mpi_int16_t) \
	X(ompi_mpi_int8_t) \
	X(ompi_mpi_uint64_t) \
	X(ompi_mpi_uint32_t) \
	X(ompi_mpi_uint16_t) \
	X(ompi_mpi_uint8_t) \
	X(ompi_mpi_c_float_complex) \
	X(ompi_mpi_c_double_complex) \
	X(ompi_mpi_op_sum) \
	X(ompi_mpi_op_prod) \
	X(ompi_mpi_op_min) \
	X(ompi_mpi_op_max) \
	X(ompi_mpi_op_land) \
	X(ompi_mpi_op_lor) \
	X(ompi_mpi_op_band) \
	X(ompi_mpi_op_bor) \
	X(ompi_mpi_op_bxor) \
	X(ompi_mpi_op_replace) \
	X(ompi_mpi_op_no_op)
