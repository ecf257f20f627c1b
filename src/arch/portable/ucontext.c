/* SPDX-License-Identifier: MIT */
/*
 * ucontext.c - the first frame of a fiber where there is no assembly.
 */
#include "arch/ctx.h"

#ifdef SLEY_ARCH_PORTABLE_CTX_SWITCH_H

/* makecontext() hands over ints, so the pointer travels in two halves. */
static void ctx_start(unsigned int high, unsigned int low)
{
	uintptr_t bits = ((uintptr_t)high << 16 << 16) | low;
	struct ctx *ctx = (struct ctx *)bits;
	uint32_t stale[2];

	fpu_swap(stale, ctx->fpu);
	ctx->entry(ctx->arg, ctx->pass);
	__builtin_trap(); /* entry must not return */
}

void sley__ctx_make(struct ctx *ctx, void *low, size_t size)
{
	uintptr_t bits = (uintptr_t)ctx;

	getcontext(&ctx->uc);
	ctx->uc.uc_stack.ss_sp = low;
	ctx->uc.uc_stack.ss_size = size;
	ctx->uc.uc_link = NULL;
	makecontext(&ctx->uc, (void (*)(void))ctx_start, 2,
		    (unsigned int)(bits >> 16 >> 16), (unsigned int)bits);
}

#else

typedef int ctx_portable_not_used; /* an empty file is not C */

#endif
