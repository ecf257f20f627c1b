/* SPDX-License-Identifier: MIT */
/*
 * ctx_switch.h - the context switch where there is no assembly: ucontext.
 *
 * swapcontext() saves the signal mask, which is a system call each way, and
 * the floating-point control words.  These words must not be saved here: the words
 * that are loaded at the switch to a context must be there when the context goes
 * on, so they are handed over like @pass.
 */
#ifndef SLEY_ARCH_PORTABLE_CTX_SWITCH_H
#define SLEY_ARCH_PORTABLE_CTX_SWITCH_H

#include "arch/fpu.h"

#include <stdint.h>
#include <ucontext.h>

struct ctx {
	ucontext_t uc;
	ctx_entry *entry;
	void *arg;
	/* Written by the thread that switches here. */
	void *pass;
	uint32_t fpu[2];
};

/* In ucontext.c. */
void sley__ctx_make(struct ctx *ctx, void *low, size_t size);

static inline void ctx_init(struct ctx *ctx, void *low, size_t size,
			    ctx_entry *entry, void *arg)
{
	ctx->entry = entry;
	ctx->arg = arg;
	sley__ctx_make(ctx, low, size);
}

static inline __attribute__((always_inline)) void *
ctx_switch(struct ctx *from, struct ctx *to, void *pass)
{
	uint32_t stale[2];

	to->pass = pass;
	fpu_save(to->fpu);
	swapcontext(&from->uc, &to->uc);
	fpu_swap(stale, from->fpu);
	return from->pass;
}

#endif
