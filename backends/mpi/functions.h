// The functions of MPI that are used, in terms of one ABI's types: X(name without MPI_, parameters). Each
// returns an error code. Compiled once for each abi_*.h.
#define FUNCTIONS(X) \
	X(Initialized, (int *)) \
	X(Finalized, (int *)) \
	X(Init_thread, (int *, char ***, int, int *)) \
	X(Query_thread, (int *)) \
	X(Is_thread_main, (int *)) \
	X(Finalize, (void)) \
	X(Abort, (Comm, int)) \
	X(Error_string, (int, char *, int *)) \
	X(Get_library_version, (char *, int *)) \
	X(Comm_rank, (Comm, int *)) \
	X(Comm_size, (Comm, int *)) \
	X(Comm_test_inter, (Comm, int *)) \
	X(Comm_dup, (Comm, Comm *)) \
	X(Comm_split, (Comm, int, int, Comm *)) \
	X(Comm_split_type, (Comm, int, int, Info, Comm *)) \
	X(Comm_free, (Comm *)) \
	X(Comm_get_errhandler, (Comm, Errhandler *)) \
	X(Comm_set_errhandler, (Comm, Errhandler)) \
	X(Errhandler_free, (Errhandler *)) \
	X(Comm_get_attr, (Comm, int, void *, int *)) \
	X(Type_contiguous, (int, Datatype, Datatype *)) \
	X(Type_create_struct, (int, const int[], const Aint[], const Datatype[], Datatype *)) \
	X(Type_commit, (Datatype *)) \
	X(Type_free, (Datatype *)) \
	X(Op_create, (void (*)(void *, void *, int *, Datatype *), int, Op *)) \
	X(Iprobe, (int, int, Comm, int *, Status *)) \
	X(Improbe, (int, int, Comm, int *, Message *, Status *)) \
	X(Mrecv, (void *, int, Datatype, Message *, Status *)) \
	X(Isend, (const void *, int, Datatype, int, int, Comm, Request *)) \
	X(Irecv, (void *, int, Datatype, int, int, Comm, Request *)) \
	X(Wait, (Request *, Status *)) \
	X(Test, (Request *, int *, Status *)) \
	X(Request_get_status, (Request, int *, Status *)) \
	X(Cancel, (Request *)) \
	X(Test_cancelled, (const Status *, int *)) \
	X(Get_elements_x, (const Status *, Datatype, Count *)) \
	X(Barrier, (Comm)) \
	X(Bcast, (void *, int, Datatype, int, Comm)) \
	X(Gather, (const void *, int, Datatype, void *, int, Datatype, int, Comm)) \
	X(Scatter, (const void *, int, Datatype, void *, int, Datatype, int, Comm)) \
	X(Allgather, (const void *, int, Datatype, void *, int, Datatype, Comm)) \
	X(Alltoall, (const void *, int, Datatype, void *, int, Datatype, Comm)) \
	X(Reduce, (const void *, void *, int, Datatype, Op, int, Comm)) \
	X(Allreduce, (const void *, void *, int, Datatype, Op, Comm)) \
	X(Scan, (const void *, void *, int, Datatype, Op, Comm)) \
	X(Exscan, (const void *, void *, int, Datatype, Op, Comm)) \
	X(Reduce_scatter_block, (const void *, void *, int, Datatype, Op, Comm)) \
	X(Ibarrier, (Comm, Request *)) \
	X(Ibcast, (void *, int, Datatype, int, Comm, Request *)) \
	X(Igather, (const void *, int, Datatype, void *, int, Datatype, int, Comm, Request *)) \
	X(Iallgather, (const void *, int, Datatype, void *, int, Datatype, Comm, Request *)) \
	X(Iallreduce, (const void *, void *, int, Datatype, Op, Comm, Request *)) \
	X(Info_create, (Info *)) \
	X(Info_set, (Info, const char *, const char *)) \
	X(Info_free, (Info *)) \
	X(Win_create, (void *, Aint, int, Info, Comm, Win *)) \
	X(Win_allocate, (Aint, int, Info, Comm, void *, Win *)) \
	X(Win_free, (Win *)) \
	X(Win_set_errhandler, (Win, Errhandler)) \
	X(Win_lock_all, (int, Win)) \
	X(Win_unlock_all, (Win)) \
	X(Win_flush, (int, Win)) \
	X(Win_flush_all, (Win)) \
	X(Win_flush_local, (int, Win)) \
	X(Win_flush_local_all, (Win)) \
	X(Win_sync, (Win)) \
	X(Put, (const void *, int, Datatype, int, Aint, int, Datatype, Win)) \
	X(Get, (void *, int, Datatype, int, Aint, int, Datatype, Win)) \
	X(Accumulate, (const void *, int, Datatype, int, Aint, int, Datatype, Op, Win)) \
	X(Get_accumulate, (const void *, int, Datatype, void *, int, Datatype, int, Aint, int, Datatype, Op, Win)) \
	X(Fetch_and_op, (const void *, void *, Datatype, int, Aint, Op, Win)) \
	X(Compare_and_swap, (const void *, const void *, void *, Datatype, int, Aint, Win))
