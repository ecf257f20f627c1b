/* SPDX-License-Identifier: MIT */
/*
 * sley/fork_stack.h - private: the half of forking that is compiled into the
 * caller.  Use <sley/fork.h> or <sley/forkable.h>.
 *
 * A fork is a few stores into the stack of forks of the current fiber.  A join
 * takes the newest child out again, and looks once whether a thief has come
 * near.  src/lf/fork_stack.h has the protocol and its edges, which are named
 * here, too.
 */
#ifndef SLEY_FORK_STACK_H
#define SLEY_FORK_STACK_H

#include <sley/compiler.h>
#include <sley/runtime.h>

SLEY_BEGIN_DECLS

/* A forked child.  The fields are private; needs no initialisation. */
struct sley_forked {
	uint64_t state; /* its function, at first: src/lf/fork_stack.h */
	void *arg;
	sley_fn *fn;  /* when the state is no longer the function    */
	void *parent; /* once stolen: src/core/sched/steal.c                */
};

#define SLEY_FORKS_FIRST 6 /* children that need no memory */

/*
 * The forked children of one fiber; src/lf/fork_stack.h has the protocol.  Only the
 * library makes such structs, so the struct may grow at its end.
 */
struct sley_forks {
	uint64_t head; /* written by the owner all the time             */
	struct sley_forked **slot; /* always has room for one more         */
	struct sley_forked *first[SLEY_FORKS_FIRST];
	uint64_t word;     /* tail and split; thieves change it             */
	uint32_t limit;    /* a fork that gets there takes the slow path    */
	uint32_t thread;   /* the kernel's thread number; 0: a fiber        */
	uint64_t unlocked; /* the word of a mutex that the fiber takes inline */
};

/* Read a value that only the reader writes. */
#ifndef SLEY_LOAD_OWN
#define SLEY_LOAD_OWN(p) (*(p))
#endif

/* The children of the fiber that the thread runs. */
SLEY_EXPORT extern __thread struct sley_forks *sley_forks_current
	__attribute__((tls_model("initial-exec")));

SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS struct sley_forks *
sley_forks_slow(void);
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER struct sley_forks *
sley_fork_slow(struct sley_forked *child) __attribute__((returns_nonnull));
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void
sley_fork_join_slow(struct sley_forked *child);

/*
 * sley_forks_fast - private: the stack for the caller's children.
 *
 * A fiber may go on with another thread, and compilers keep the address of a
 * thread-local.  On x86-64 compilers have no use for the address: the segment
 * register is part of each access.
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline struct sley_forks *
sley_forks_fast(void)
{
#if defined(__x86_64__) && !defined(SLEY_MODEL)
	return sley_forks_current;
#else
	return sley_forks_slow();
#endif
}

/*
 * sley_fork_push_fast - private: false: sley_fork_slow() has to follow.
 *
 * The store of the head must come before the load of the limit, as a thief that
 * is about to sleep changes the limit first and then looks at the head.
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline bool
sley_fork_push_fast(struct sley_forks *forks, struct sley_forked *child,
		    sley_fn *fn, void *arg)
{
	uint64_t head = __atomic_load_n(&forks->head, __ATOMIC_RELAXED);

	child->arg = arg;
	__atomic_store_n(&child->state, (uint64_t)(uintptr_t)fn,
			 __ATOMIC_RELAXED);
	__atomic_store_n(&SLEY_LOAD_OWN(&forks->slot)[head], child,
			 __ATOMIC_RELAXED);
	head++;
	__atomic_store_n(&forks->head, head, __ATOMIC_RELEASE); /* F5 */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return __builtin_expect(
		head < __atomic_load_n(&forks->limit, __ATOMIC_RELAXED), 1);
}

/* sley_fork_fast - private: fork; returns the stack that has the child. */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER static inline struct sley_forks *
sley_fork_fast(struct sley_forked *child, sley_fn *fn, void *arg)
{
	struct sley_forks *forks = sley_forks_fast();

	return sley_fork_push_fast(forks, child, fn, arg)
		       ? forks
		       : sley_fork_slow(child);
}

/* sley_forks_split_fast - private: children below the split may be stolen. */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline uint32_t
sley_forks_split_fast(struct sley_forks *forks)
{
#if defined(__x86_64__) && !defined(SLEY_MODEL)
	typedef uint32_t __attribute__((may_alias)) half;

	return __atomic_load_n((half *)&forks->word + 1, __ATOMIC_RELAXED);
#else
	return (uint32_t)(__atomic_load_n(&forks->word, __ATOMIC_RELAXED) >>
			  32);
#endif
}

/*
 * sley_fork_pop_fast - private: take @child back, if it is the newest.
 *
 * The store of the head must come before the load of the split; a thief that
 * moves the split makes the processor keep that order (os/membarrier.h).
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline bool
sley_fork_pop_fast(struct sley_forks *forks, const struct sley_forked *child)
{
	uint64_t head = __atomic_load_n(&forks->head, __ATOMIC_RELAXED);

	__atomic_store_n(&forks->head, head - 1, __ATOMIC_RELEASE); /* F5 */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (__builtin_expect(sley_forks_split_fast(forks) < head &&
				     SLEY_LOAD_OWN(&SLEY_LOAD_OWN(
					     &forks->slot)[head - 1]) == child,
			     1))
		return true;
	__atomic_store_n(&forks->head, head, __ATOMIC_RELEASE); /* F5 */
	return false;
}

/* sley_fork_call_fast - private: call a child that was taken back. */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER static inline void
sley_fork_call_fast(const struct sley_forked *child)
{
	((sley_fn *)(uintptr_t)SLEY_LOAD_OWN(&child->state))(child->arg);
}

SLEY_END_DECLS
#endif
