#include "textflag.h"

// How many elements are read ahead, into the second cache: the first one holds what is written, too.
#define AHEAD 128

// Copies the element whose offset is next, or element 0 if it is negative, and goes on to the one behind it.
#define COPY(MOVE, SIZE) \
	MOVQ (DX), R9; \
	MOVQ R9, R10; \
	SARQ $63, R10; \
	NOTQ R10; \
	ANDQ R10, R9; \
	MOVE (SI)(R9*1), R11; \
	MOVE R11, (DI); \
	ADDQ $8, DX; \
	ADDQ SIZE, DI

// The whole function: with the memory of elements ahead asked for, then without for the last ones.
#define GATHER(MOVE, SIZE) \
	MOVQ dst+0(FP), DI; \
	MOVQ base+8(FP), SI; \
	MOVQ offsets_base+16(FP), DX; \
	MOVQ offsets_len+24(FP), CX; \
	LEAQ -AHEAD(CX), BX; \
	CMPQ BX, $0; \
	JLE rest; \
	SUBQ BX, CX; \
ahead: \
	MOVQ 8*AHEAD(DX), R8; \
	PREFETCHT1 (SI)(R8*1); \
	COPY(MOVE, SIZE); \
	DECQ BX; \
	JNZ ahead; \
rest: \
	TESTQ CX, CX; \
	JZ done; \
next: \
	COPY(MOVE, SIZE); \
	DECQ CX; \
	JNZ next; \
done: \
	RET

// func gather8(dst, base unsafe.Pointer, offsets []int64)
TEXT ·gather8(SB), NOSPLIT, $0-40
	GATHER(MOVQ, $8)

// func gather4(dst, base unsafe.Pointer, offsets []int64)
TEXT ·gather4(SB), NOSPLIT, $0-40
	GATHER(MOVL, $4)
