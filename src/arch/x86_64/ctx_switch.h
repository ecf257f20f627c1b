/* SPDX-License-Identifier: MIT */
/*
 * ctx_switch.h - the context switch of x86-64, System V ABI.
 *
 * Seven instructions, inline.  The asm statement tells the compiler that every
 * register dies in it, so the compiler keeps live values in the frame, and
 * the switch itself moves three words: stack pointer, frame pointer (which
 * cannot be declared dead) and the address to go on at.
 *
 *        sp ──► [ frame of the function that switched | its callers ... ]
 *
 * The three words live in struct ctx, not on the stack: a push would land in
 * the red zone of a leaf function, and would move the CFA between two
 * instructions.  As it is, {sp, fp, pc} is what an unwinder needs: set the
 * three registers and gdb prints the stack of a suspended fiber.
 *
 * Measured on an AMD EPYC (virtual, 2.4 GHz), one way, median of 9 runs:
 *
 *   this, inline in two loops                                0.8 ns
 *   six pushes and pops out of line, left by jmp             4.4 ns
 *   six pushes and pops out of line, left by ret             8.4 ns
 *   boost.context 1.74, jump_fcontext                        5.6 ns
 *
 * and in a function that is called to switch, like sley_yield():
 *
 *                        called from one place   from two places
 *   this                     3.8 to 4.4 ns          8.3 to 9.7 ns
 *   out of line, by ret         4.4 ns                 9.3 ns
 *   out of line, by jmp         9.4 ns                 9.3 ns
 *
 * So the price is not the registers but a return that the processor predicts
 * from the calls made on the other stack.  The jmp here has a prediction of its
 * own.  A function that must keep its caller's registers saves these around the
 * statement once, where an out-of-line switch would save them a second time.  Only
 * the function's own return may be mispredicted, and is not where fibers wait in
 * one place.  The out-of-line variants win nowhere beyond the noise and are not
 * kept.  The statement is 28 bytes of code.
 */
#ifndef SLEY_ARCH_X86_64_CTX_SWITCH_H
#define SLEY_ARCH_X86_64_CTX_SWITCH_H

#include <stdint.h>

struct ctx {
	void *sp;
	void *fp;
	void *pc;
};

/* In ctx.S: pops entry and arg, calls entry(arg, pass). */
void sley__ctx_start(void);

/* Vector registers above 15 and mask registers exist with AVX-512 only. */
#ifdef __AVX512F__
#define CTX_CLOBBER_AVX512                                                     \
	, "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22",       \
		"xmm23", "xmm24", "xmm25", "xmm26", "xmm27", "xmm28", "xmm29", \
		"xmm30", "xmm31", "k1", "k2", "k3", "k4", "k5", "k6", "k7"
#else
#define CTX_CLOBBER_AVX512
#endif

/* With indirect branch tracking, a jump through memory must land on this. */
#if defined(__CET__) && (__CET__ & 1)
#define CTX_LANDING "endbr64\n"
#else
#define CTX_LANDING ""
#endif

static inline void ctx_init(struct ctx *ctx, void *low, size_t size,
			    ctx_entry *entry, void *arg)
{
	uintptr_t top = ((uintptr_t)low + size) & ~(uintptr_t)15;
	void **slot = (void **)(top - 32);

	/* Popped by the first two instructions; zeros end a naive walk. */
	slot[0] = (void *)(uintptr_t)entry;
	slot[1] = arg;
	slot[2] = NULL;
	slot[3] = NULL;
	ctx->sp = slot;
	ctx->fp = NULL;
	ctx->pc = (void *)(uintptr_t)sley__ctx_start;
}

static inline __attribute__((always_inline)) void *
ctx_switch(struct ctx *from, struct ctx *to, void *pass)
{
	/*
	 * The operands sit in fixed registers because all others are clobbered.
	 * rsi, the second argument register, carries @pass: the entry function
	 * finds it there.
	 */
	__asm__ volatile("leaq 1f(%%rip), %%rax\n\t"
			 "movq %%rsp, 0(%%rdi)\n\t"
			 "movq %%rbp, 8(%%rdi)\n\t"
			 "movq %%rax, 16(%%rdi)\n\t"
			 "movq 0(%%rdx), %%rsp\n\t"
			 "movq 8(%%rdx), %%rbp\n\t"
			 "jmpq *16(%%rdx)\n"
			 "1:\t" CTX_LANDING
			 : "+D"(from), "+d"(to), "+S"(pass)
			 :
			 : "cc", "memory", "rax", "rbx", "rcx", "r8", "r9",
			   "r10", "r11", "r12", "r13", "r14", "r15", "st",
			   "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)",
			   "st(7)", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4",
			   "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
			   "xmm11", "xmm12", "xmm13", "xmm14",
			   "xmm15" CTX_CLOBBER_AVX512);
	return pass;
}

#endif
