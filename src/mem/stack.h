/* SPDX-License-Identifier: MIT */
/*
 * stack.h - stacks for fibers: one pool for each size.
 *
 *   chunk, one mapping:
 *   ┌───────┬───────────┬──┬───────┬───────────┬──┬─────
 *   │ guard │ stack 0   │co│ guard │ stack 1   │co│ ...
 *   └───────┴───────────┴──┴───────┴───────────┴──┴─────
 *           low      ◄──top        low      ◄──top
 *
 * Address space is taken in chunks of many stacks and costs nothing until it
 * is touched.  Each stack has a guard below: advised where the kernel can,
 * so that a million stacks are a few mappings, protected elsewhere.
 *
 * The data about a stack is kept apart, in slots: an unused stack is not
 * touched, not even to be linked into a list.  Slots and chunks live
 * until stack_pool_fini().
 *
 *   fresh ──[get: guards for a batch]──► cold ──[get]──► out
 *                                         ▲               │
 *                                         │             [put]
 *                                         │               ▼
 *                                         └──[bound,──── warm ──[get]──► out
 *                                             trim]
 *
 * A warm stack has kept its pages.  The stack put last is the first to be got,
 * since its top is likely to be in the cache.  When there are more than
 * warm_max warm stacks, the stack that has been idle longest gives its pages back.
 *
 * A bound alone is wrong for work that comes in waves: each wave would fault
 * its pages in anew, 3.5 us a stack.  So where a caller ages the pool from time
 * to time there is no bound: all stacks that a wave needed stay warm, and stacks
 * that were not needed since the last look go cold little by little.
 *
 * The tops are coloured (co): all tops at the same offset in their page would
 * compete for the same few sets of the first-level cache.  So a stack is up to
 * STACK_COLOUR_MAX bytes smaller than the pool's size; one page still holds
 * the frames of a fiber that has just blocked.
 *
 * All functions but init and fini may be called from any thread.
 */
#ifndef SLEY_MEM_STACK_H
#define SLEY_MEM_STACK_H

#include "base/compiler.h"
#include "base/list.h"
#include "lf/spin.h"
#include "os/fault.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A frame larger than this may step over the guard, unless its function was
 * compiled with -fstack-clash-protection.  Of the 2.3 us that a fresh stack
 * costs, 0.65 are the guard; 64 KiB would make that 0.85, 4 KiB 0.55.  On AArch64
 * compilers assume that guards have 64 KiB, and touch no page in between.
 */
#ifdef __aarch64__
#define STACK_GUARD_SIZE_MIN ((size_t)64 << 10)
#else
#define STACK_GUARD_SIZE_MIN ((size_t)32 << 10)
#endif

/* The same in whole pages: some AArch64 kernels have pages of 64 KiB. */
size_t stack_guard_size(void);

#define STACK_NR_COLOURS 16
#define STACK_COLOUR_MAX ((STACK_NR_COLOURS - 1) * CACHE_LINE)

#define STACK_SIZE_MIN ((size_t)8 << 10)

#define STACK_WARM_MAX 1024       /* where the pool is not aged */
#define STACK_WARM_ALL UINT32_MAX /* where the pool is aged     */
#define STACK_AGE_SHARE 1024 /* of the unneeded stacks, this part goes cold */

struct stack_slot;
struct stack_chunk;

/* Usable: [low, low + size). */
struct stack {
	char *low;
	size_t size;
	struct stack_slot *slot; /* NULL: not from a pool */
};

struct stack_pool {
	struct spinlock lock; /* of the lists and counters */
	uint32_t warm_max;    /* may be set after init, before use */
	uint32_t nr_warm;
	uint32_t nr_unneeded; /* the lowest nr_warm since the last aging */
	uint64_t nr_out;
	struct list warm_list; /* put last comes first */
	struct list cold_list;

	pthread_mutex_t growing;    /* of the rest; held over system calls */
	struct stack_chunk *chunks; /* the first may have fresh stacks */
	size_t size;                /* of each stack, before colouring */
	size_t guard;               /* below each */
	size_t stride;
	bool no_guard_advice;
};

must_check int stack_pool_init(struct stack_pool *pool, size_t stack_size,
			       bool no_guard_advice);
/* All stacks must have been put back. */
void stack_pool_fini(struct stack_pool *pool);

/* 0, or -ENOMEM: there is no address space, or no guard. */
must_check int stack_pool_get(struct stack_pool *pool, struct stack *out);
#ifdef SLEY_FAULTS
#define stack_pool_get(pool, out)                                              \
	(-fault_error("stack_pool_get", ENOMEM) ?: (stack_pool_get)(pool, out))
#endif
void stack_pool_put(struct stack_pool *pool, struct stack *stack);

/*
 * To be called at regular times: gives the pages of some stacks back that were
 * not needed since the last call.
 */
void stack_pool_age(struct stack_pool *pool);

/* Give the pages of all warm stacks back; the stacks stay. */
void stack_pool_trim(struct stack_pool *pool);

#endif
