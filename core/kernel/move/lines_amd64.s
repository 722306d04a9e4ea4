#include "textflag.h"

// func lines8(dst unsafe.Pointer, dstStride int, src unsafe.Pointer, srcStride, n int)
TEXT ·lines8(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ dstStride+8(FP), R8
	MOVQ src+16(FP), SI
	MOVQ srcStride+24(FP), R9
	MOVQ n+32(FP), CX
	LEAQ (R9)(R9*2), R10
	LEAQ (SI)(R9*4), R11

loop:
	MOVSD  (SI), X0
	MOVHPD (SI)(R9*1), X0
	MOVSD  (SI)(R9*2), X1
	MOVHPD (SI)(R10*1), X1
	MOVSD  (R11), X2
	MOVHPD (R11)(R9*1), X2
	MOVSD  (R11)(R9*2), X3
	MOVHPD (R11)(R10*1), X3
	MOVUPD X0, (DI)
	MOVUPD X1, 16(DI)
	MOVUPD X2, 32(DI)
	MOVUPD X3, 48(DI)
	ADDQ   R8, DI
	ADDQ   $8, SI
	ADDQ   $8, R11
	DECQ   CX
	JNZ    loop
	RET

// func streamLines8(dst unsafe.Pointer, dstStride int, src unsafe.Pointer, srcStride, srcNext, n int)
TEXT ·streamLines8(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ dstStride+8(FP), R8
	MOVQ src+16(FP), SI
	MOVQ srcStride+24(FP), R9
	MOVQ srcNext+32(FP), R12
	MOVQ n+40(FP), CX
	LEAQ (R9)(R9*2), R10
	LEAQ (SI)(R9*4), R11

loop:
	MOVSD   (SI), X0
	MOVHPD  (SI)(R9*1), X0
	MOVSD   (SI)(R9*2), X1
	MOVHPD  (SI)(R10*1), X1
	MOVSD   (R11), X2
	MOVHPD  (R11)(R9*1), X2
	MOVSD   (R11)(R9*2), X3
	MOVHPD  (R11)(R10*1), X3
	MOVNTPD X0, (DI)
	MOVNTPD X1, 16(DI)
	MOVNTPD X2, 32(DI)
	MOVNTPD X3, 48(DI)
	ADDQ    R8, DI
	ADDQ    R12, SI
	ADDQ    R12, R11
	DECQ    CX
	JNZ     loop
	SFENCE
	RET
