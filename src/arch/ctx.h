/* SPDX-License-Identifier: MIT */
/*
 * ctx.h - the bare context switch: one stack is left, another is entered.
 *
 *   struct ctx    where a context that does not run will go on
 *
 *   void ctx_init(struct ctx *ctx, void *low, size_t size,
 *                 ctx_entry *entry, void *arg);
 *       The first switch to @ctx calls entry(arg, pass) on the stack
 *       [low, low + size).  entry must not return.
 *
 *   void *ctx_switch(struct ctx *from, struct ctx *to, void *pass);
 *       Stores the running context into @from and goes on with @to, where
 *       ctx_switch() returns @pass.  Returns after the next switch to @from,
 *       with the @pass of that switch, perhaps on another OS thread.
 *
 * Beware of two things that compilers keep in registers over a switch.  One is
 * the address of a thread-local: the context may go on on another thread.  The
 * other is a static variable whose address is never taken: gcc knows that the
 * assembly cannot change the variable, and does not know that other contexts run
 * in the meantime.  Reach shared data of contexts through pointers.
 *
 * And a function that switches must not have locals of variable size beside
 * locals that ask for more than the stack's own alignment: for the latter clang
 * keeps a third pointer into the frame, in a register that clang believes to be
 * safe.
 *
 * Nothing else is carried over: errno, the floating-point control words and
 * the calls for the sanitizers are the business of fiber/fiber.h.
 *
 * The portable context costs two system calls a switch.  It is there for other
 * architectures and to check the assembly against (-DSLEY_PORTABLE_CTX).
 */
#ifndef SLEY_ARCH_CTX_H
#define SLEY_ARCH_CTX_H

#include <stddef.h>

typedef void ctx_entry(void *arg, void *pass);

#if defined(__x86_64__) && defined(__LP64__) && !defined(SLEY_PORTABLE_CTX)
#include "arch/x86_64/ctx_switch.h"
#elif defined(__aarch64__) && defined(__LP64__) && !defined(SLEY_PORTABLE_CTX)
#include "arch/aarch64/ctx_switch.h"
#else
#include "arch/portable/ctx_switch.h"
#endif

#endif
