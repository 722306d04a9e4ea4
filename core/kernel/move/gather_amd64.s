#include "textflag.h"

// How many elements are read ahead.
#define AHEAD 64

// func gather8(dst, base unsafe.Pointer, offsets []int64)
TEXT ·gather8(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ base+8(FP), SI
	MOVQ offsets_base+16(FP), DX
	MOVQ offsets_len+24(FP), CX
	LEAQ -AHEAD(CX), BX
	CMPQ BX, $0
	JLE  rest
	SUBQ BX, CX

ahead:
	MOVQ        8*AHEAD(DX), R8
	PREFETCHT0  (SI)(R8*1)
	MOVQ        (DX), R9
	MOVQ        R9, R10
	SARQ        $63, R10
	NOTQ        R10
	ANDQ        R10, R9
	MOVQ        (SI)(R9*1), R11
	MOVQ        R11, (DI)
	ADDQ        $8, DX
	ADDQ        $8, DI
	DECQ        BX
	JNZ         ahead

rest:
	TESTQ CX, CX
	JZ    done

next:
	MOVQ (DX), R9
	MOVQ R9, R10
	SARQ $63, R10
	NOTQ R10
	ANDQ R10, R9
	MOVQ (SI)(R9*1), R11
	MOVQ R11, (DI)
	ADDQ $8, DX
	ADDQ $8, DI
	DECQ CX
	JNZ  next

done:
	RET

// func gather4(dst, base unsafe.Pointer, offsets []int64)
TEXT ·gather4(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ base+8(FP), SI
	MOVQ offsets_base+16(FP), DX
	MOVQ offsets_len+24(FP), CX
	LEAQ -AHEAD(CX), BX
	CMPQ BX, $0
	JLE  rest
	SUBQ BX, CX

ahead:
	MOVQ        8*AHEAD(DX), R8
	PREFETCHT0  (SI)(R8*1)
	MOVQ        (DX), R9
	MOVQ        R9, R10
	SARQ        $63, R10
	NOTQ        R10
	ANDQ        R10, R9
	MOVL        (SI)(R9*1), R11
	MOVL        R11, (DI)
	ADDQ        $8, DX
	ADDQ        $4, DI
	DECQ        BX
	JNZ         ahead

rest:
	TESTQ CX, CX
	JZ    done

next:
	MOVQ (DX), R9
	MOVQ R9, R10
	SARQ $63, R10
	NOTQ R10
	ANDQ R10, R9
	MOVL (SI)(R9*1), R11
	MOVL R11, (DI)
	ADDQ $8, DX
	ADDQ $4, DI
	DECQ CX
	JNZ  next

done:
	RET
