/* SPDX-License-Identifier: MIT */
/*
 * atomic.h - every atomic operation of the library, the order in its name.
 *
 * One seam for three builds: the release build, ThreadSanitizer, and the
 * interleaving explorer (-DSLEY_MODEL, tests/model), which maps each name onto
 * a scheduling point of its own.  Objects are plain integers and pointers, so
 * that public structs stay valid C++.
 *
 * There is no default order and no fence: ThreadSanitizer does not understand
 * fences, so the order is on the operation.  Where a store must be ordered
 * before a later load (store, then look at what the other side did), let both
 * sides read-modify-write one and the same word, or call os_membarrier() on the
 * rare side.  A read-modify-write of another word is a full barrier on x86, and
 * not elsewhere: acq_rel keeps neither an earlier store from moving behind the
 * load nor a later load from moving before the store.  Two processes that may not write
 * to each other's words can do neither: for them, and for nobody else, both the
 * read-modify-write and the load behind it are seq_cst.
 *
 * How to write edges down: a file that has ordered operations declares its edges
 * at the top ("X1  publisher -> reader : published data"), each ordered
 * operation names its edge in a comment, each relaxed operation says why relaxed is
 * enough.  tools/check_orders.py rejects an edge with one end.
 *
 * cas_* take a pointer to the expected value, store the found value there, and
 * return whether they swapped.  They are strong.  On failure the order is
 * relaxed, or acquire where the name says so.
 */
#ifndef SLEY_BASE_ATOMIC_H
#define SLEY_BASE_ATOMIC_H

#include "base/chaos.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef SLEY_MODEL
#include "model_atomic.h" /* tests/model */
#else

#define load_relaxed(p) __atomic_load_n((p), __ATOMIC_RELAXED)
#define load_acquire(p) chaos_around(__atomic_load_n((p), __ATOMIC_ACQUIRE))
#define load_seq_cst(p) chaos_around(__atomic_load_n((p), __ATOMIC_SEQ_CST))

#define store_relaxed(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define store_release(p, v)                                                    \
	chaos_around_store(__atomic_store_n((p), (v), __ATOMIC_RELEASE))

#define xchg_relaxed(p, v) __atomic_exchange_n((p), (v), __ATOMIC_RELAXED)
#define xchg_acquire(p, v)                                                     \
	chaos_around(__atomic_exchange_n((p), (v), __ATOMIC_ACQUIRE))
#define xchg_release(p, v)                                                     \
	chaos_around(__atomic_exchange_n((p), (v), __ATOMIC_RELEASE))
#define xchg_acq_rel(p, v)                                                     \
	chaos_around(__atomic_exchange_n((p), (v), __ATOMIC_ACQ_REL))
#define xchg_seq_cst(p, v)                                                     \
	chaos_around(__atomic_exchange_n((p), (v), __ATOMIC_SEQ_CST))

#define cas_relaxed(p, e, d)                                                   \
	__atomic_compare_exchange_n((p), (e), (d), false, __ATOMIC_RELAXED,    \
				    __ATOMIC_RELAXED)
#define cas_acquire(p, e, d)                                                   \
	chaos_around(__atomic_compare_exchange_n(                              \
		(p), (e), (d), false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
#define cas_release(p, e, d)                                                   \
	chaos_around(__atomic_compare_exchange_n(                              \
		(p), (e), (d), false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
#define cas_acq_rel(p, e, d)                                                   \
	chaos_around(__atomic_compare_exchange_n(                              \
		(p), (e), (d), false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
#define cas_seq_cst(p, e, d)                                                   \
	chaos_around(__atomic_compare_exchange_n(                              \
		(p), (e), (d), false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
/* Acquires on failure, too. */
#define cas_acq_rel_acquire(p, e, d)                                           \
	chaos_around(__atomic_compare_exchange_n(                              \
		(p), (e), (d), false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))

#define add_relaxed(p, v) __atomic_fetch_add((p), (v), __ATOMIC_RELAXED)
#define add_acquire(p, v)                                                      \
	chaos_around(__atomic_fetch_add((p), (v), __ATOMIC_ACQUIRE))
#define add_release(p, v)                                                      \
	chaos_around(__atomic_fetch_add((p), (v), __ATOMIC_RELEASE))
#define add_acq_rel(p, v)                                                      \
	chaos_around(__atomic_fetch_add((p), (v), __ATOMIC_ACQ_REL))
#define sub_relaxed(p, v) __atomic_fetch_sub((p), (v), __ATOMIC_RELAXED)
#define sub_release(p, v)                                                      \
	chaos_around(__atomic_fetch_sub((p), (v), __ATOMIC_RELEASE))
#define sub_acq_rel(p, v)                                                      \
	chaos_around(__atomic_fetch_sub((p), (v), __ATOMIC_ACQ_REL))
#define or_relaxed(p, v) __atomic_fetch_or((p), (v), __ATOMIC_RELAXED)
#define or_acquire(p, v)                                                       \
	chaos_around(__atomic_fetch_or((p), (v), __ATOMIC_ACQUIRE))
#define or_release(p, v)                                                       \
	chaos_around(__atomic_fetch_or((p), (v), __ATOMIC_RELEASE))
#define or_acq_rel(p, v)                                                       \
	chaos_around(__atomic_fetch_or((p), (v), __ATOMIC_ACQ_REL))
#define and_relaxed(p, v) __atomic_fetch_and((p), (v), __ATOMIC_RELAXED)
#define and_release(p, v)                                                      \
	chaos_around(__atomic_fetch_and((p), (v), __ATOMIC_RELEASE))
#define and_acq_rel(p, v)                                                      \
	chaos_around(__atomic_fetch_and((p), (v), __ATOMIC_ACQ_REL))

/*
 * Keeps the compiler, and only the compiler, from moving memory accesses
 * across.  The cheap side of an os_membarrier() protocol: the processor's half
 * of the barrier comes from the other side's system call.
 */
#define compiler_barrier()                                                     \
	chaos_around_store(__atomic_signal_fence(__ATOMIC_SEQ_CST))

/*
 * A moment's pause without a memory access.  Not in arch/, which stands
 * above.  "yield" would be AArch64's own instruction for that,
 * but most processors treat "yield" as a nop; "isb" waits for the pipeline to
 * drain, some 10 to 40 ns, about as long as the pause of x86.
 */
static inline void spin_pause(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("isb" : : : "memory");
#else
	compiler_barrier();
#endif
}

/*
 * The caller found @p unusable and is about to look again.  The explorer
 * suspends the thread until another thread has written to @p.
 */
#define spin_hint(p) ((void)(p), spin_pause())

#endif /* SLEY_MODEL */

/*
 * Add to a counter that one thread writes, and that others read, relaxed.  On x86 a
 * single instruction, without a lock: a load, an addition and a store in the words
 * of C are three.  The second exception to the rule that instructions are in arch/.
 */
static inline void count_own32(uint32_t *counter, uint32_t n)
{
#if defined(SLEY_MODEL)
	*counter += n; /* a hint: nothing to explore */
#elif defined(__x86_64__)
	__asm__("addl %1, %0" : "+m"(*counter) : "ir"(n) : "cc");
#else
	/* relaxed: one writer, and readers that want no more than the count. */
	store_relaxed(counter, load_relaxed(counter) + n);
#endif
}

static inline void count_own64(uint64_t *counter, uint64_t n)
{
#if defined(__x86_64__) && !defined(SLEY_MODEL)
	__asm__("addq %1, %0" : "+m"(*counter) : "er"(n) : "cc");
#else
	/* relaxed: as above. */
	store_relaxed(counter, load_relaxed(counter) + n);
#endif
}

/*
 * The cache line of @at comes over to be written.  The compiler knows the instruction only
 * for processors that are newer than all x86-64; the oldest of these do nothing.  The third
 * exception to the rule that instructions are in arch/.
 */
static inline void prefetch_write(const void *at)
{
#ifdef __x86_64__
	__asm__ volatile("prefetchw %0" : : "m"(*(const char *)at));
#else
	__builtin_prefetch(at, 1);
#endif
}

#endif
