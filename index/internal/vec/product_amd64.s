#include "textflag.h"

// func product(v, w []float32) float32
//
// Sixteen numbers a round, in four registers of SSE, which every amd64 has.
TEXT ·product(SB), NOSPLIT, $0-52
	MOVQ  v_base+0(FP), SI
	MOVQ  v_len+8(FP), CX
	MOVQ  w_base+24(FP), DI
	XORPS X0, X0
	XORPS X1, X1
	XORPS X2, X2
	XORPS X3, X3
	SUBQ  $16, CX
	JLT   rest

round:
	MOVUPS (SI), X4
	MOVUPS 16(SI), X5
	MOVUPS 32(SI), X6
	MOVUPS 48(SI), X7
	MOVUPS (DI), X8
	MOVUPS 16(DI), X9
	MOVUPS 32(DI), X10
	MOVUPS 48(DI), X11
	MULPS  X8, X4
	MULPS  X9, X5
	MULPS  X10, X6
	MULPS  X11, X7
	ADDPS  X4, X0
	ADDPS  X5, X1
	ADDPS  X6, X2
	ADDPS  X7, X3
	ADDQ   $64, SI
	ADDQ   $64, DI
	SUBQ   $16, CX
	JGE    round

rest:
	ADDQ $16, CX
	JEQ  sum

one:
	MOVSS (SI), X4
	MULSS (DI), X4
	ADDSS X4, X0
	ADDQ  $4, SI
	ADDQ  $4, DI
	DECQ  CX
	JNE   one

sum:
	ADDPS   X1, X0
	ADDPS   X3, X2
	ADDPS   X2, X0
	MOVHLPS X0, X1
	ADDPS   X1, X0
	MOVAPS  X0, X1
	SHUFPS  $1, X1, X1
	ADDSS   X1, X0
	MOVSS   X0, ret+48(FP)
	RET
