/* SPDX-License-Identifier: MIT */
/*
 * ctx_switch.h - the context switch of AArch64, the procedure call standard of
 * Arm (AAPCS64).
 *
 * Eight instructions, inline, after the plan of arch/x86_64/ctx_switch.h: the
 * asm statement tells the compiler that every register dies in it, so the
 * compiler keeps live values in the frame, and the switch itself moves three
 * words: stack pointer, frame pointer and the address to go on at.  {sp, fp,
 * pc} is also what an unwinder needs.
 *
 * Which registers die:
 *
 *   x0 to x28, x30   all but x0 to x2, where the operands are.  x18 is reserved
 *                    on some systems; on Linux x18 is an ordinary scratch
 *                    register, so it dies, too.  Code that reserves x18 as a
 *                    shadow call stack (-fsanitize=shadow-call-stack) needs one
 *                    per fiber, which is not there: refused below.
 *   x29              saved here: a frame pointer cannot be declared dead
 *   v0 to v31        whole.  The callee-saved part is the low half of v8 to
 *                    v15 only; the statement has no such thing as a callee.
 *   z, p             where the compiler may use SVE; ffr only on demand
 *   nzcv             "cc".  FPCR is the business of fiber/fiber.h; FPSR, the
 *                    sticky flags, may be changed by any call.
 *   ZA (SME)         must not be live over a switch to another thread
 *
 * Pointer authentication: return addresses are signed with the stack pointer
 * as the modifier, and lie in frames of the same stack; they are checked with
 * the same stack pointer, on whichever thread: keys belong to the process.  The pc
 * in struct ctx is not signed: the pc is read a moment before the branch, and an
 * attacker that can write to a struct ctx can write to the sp beside the pc.
 *
 * Branch target identification: the branch goes through x9, which is neither
 * x16 nor x17, so with guarded pages it lands on a "bti j" only.
 *
 * The statement is 32 bytes of code, 36 with a landing pad.  From one yield to
 * the next, worker_yield() of gcc 12 at -O2 executes 89 instructions, calls not
 * counted: 8 are the switch, 20 save and restore the registers that the caller
 * relies on (ten pairs each way).
 *
 * Not measured: this was written without such a machine, under an emulator.
 */
#ifndef SLEY_ARCH_AARCH64_CTX_SWITCH_H
#define SLEY_ARCH_AARCH64_CTX_SWITCH_H

#include <stdint.h>

#if defined(__has_feature)
#if __has_feature(shadow_call_stack)
#error "ctx_switch.h: fibers have no shadow call stacks"
#endif
#endif

struct ctx {
	void *sp;
	void *fp;
	void *pc;
};

/* In ctx.S: takes entry and arg off the stack, calls entry(arg, pass). */
void sley__ctx_start(void);

/* A z register is a v register and more; predicates exist with SVE only. */
#ifdef __ARM_FEATURE_SVE
#define CTX_VECTOR(n) "z" #n
#define CTX_CLOBBER_SVE                                                        \
	, "p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9", "p10",   \
		"p11", "p12", "p13", "p14", "p15"
#else
#define CTX_VECTOR(n) "v" #n
#define CTX_CLOBBER_SVE
#endif

/* "bti j", spelled so that every assembler takes it. */
#ifdef __ARM_FEATURE_BTI_DEFAULT
#define CTX_LANDING "hint #36\n"
#else
#define CTX_LANDING ""
#endif

static inline void ctx_init(struct ctx *ctx, void *low, size_t size,
			    ctx_entry *entry, void *arg)
{
	uintptr_t top = ((uintptr_t)low + size) & ~(uintptr_t)15;
	void **slot = (void **)(top - 16);

	slot[0] = (void *)(uintptr_t)entry;
	slot[1] = arg;
	ctx->sp = slot;
	ctx->fp = NULL; /* the end of the chain of frames */
	ctx->pc = (void *)(uintptr_t)sley__ctx_start;
}

static inline __attribute__((always_inline)) void *
ctx_switch(struct ctx *from, struct ctx *to, void *pass)
{
	/* x1, the second argument register: the entry function finds @pass. */
	register struct ctx *x0 __asm__("x0") = from;
	register void *x1 __asm__("x1") = pass;
	register struct ctx *x2 __asm__("x2") = to;

	__asm__ volatile("adr x9, 1f\n\t"
			 "mov x10, sp\n\t"
			 "stp x10, x29, [x0]\n\t"
			 "str x9, [x0, #16]\n\t"
			 "ldr x9, [x2, #16]\n\t"
			 "ldp x10, x29, [x2]\n\t"
			 "mov sp, x10\n\t"
			 "br x9\n"
			 "1:\t" CTX_LANDING
			 : "+r"(x0), "+r"(x1), "+r"(x2)
			 :
			 : "cc", "memory", "x3", "x4", "x5", "x6", "x7", "x8",
			   "x9", "x10", "x11", "x12", "x13", "x14", "x15",
			   "x16", "x17", "x18", "x19", "x20", "x21", "x22",
			   "x23", "x24", "x25", "x26", "x27", "x28", "x30",
			   CTX_VECTOR(0), CTX_VECTOR(1), CTX_VECTOR(2),
			   CTX_VECTOR(3), CTX_VECTOR(4), CTX_VECTOR(5),
			   CTX_VECTOR(6), CTX_VECTOR(7), CTX_VECTOR(8),
			   CTX_VECTOR(9), CTX_VECTOR(10), CTX_VECTOR(11),
			   CTX_VECTOR(12), CTX_VECTOR(13), CTX_VECTOR(14),
			   CTX_VECTOR(15), CTX_VECTOR(16), CTX_VECTOR(17),
			   CTX_VECTOR(18), CTX_VECTOR(19), CTX_VECTOR(20),
			   CTX_VECTOR(21), CTX_VECTOR(22), CTX_VECTOR(23),
			   CTX_VECTOR(24), CTX_VECTOR(25), CTX_VECTOR(26),
			   CTX_VECTOR(27), CTX_VECTOR(28), CTX_VECTOR(29),
			   CTX_VECTOR(30), CTX_VECTOR(31) CTX_CLOBBER_SVE);
	return x1;
}

#endif
