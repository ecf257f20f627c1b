/* SPDX-License-Identifier: MIT */
/*
 * inline_paths.h - lets the explorer see the inline paths of public headers.
 *
 * The inline paths use the compiler's atomics, not base/atomic.h.  Each atomic
 * becomes the operation of base/atomic.h with the same order; an atomic that is not
 * listed here does not compile.  Include this file before the header.
 */
#ifndef SLEY_TESTS_MODEL_INLINE_PATHS_H
#define SLEY_TESTS_MODEL_INLINE_PATHS_H

#include "base/atomic.h"

#define __atomic_load_n(p, order) INLINE_LOAD##order(p)
#define INLINE_LOAD__ATOMIC_RELAXED(p) load_relaxed(p)
#define INLINE_LOAD__ATOMIC_ACQUIRE(p) load_acquire(p)

#define __atomic_store_n(p, v, order) INLINE_STORE##order(p, v)
#define INLINE_STORE__ATOMIC_RELAXED(p, v) store_relaxed(p, v)
#define INLINE_STORE__ATOMIC_RELEASE(p, v) store_release(p, v)

#define __atomic_signal_fence(order) INLINE_FENCE##order()
#define INLINE_FENCE__ATOMIC_SEQ_CST() compiler_barrier()

/* The value may still be in the reader's store buffer. */
#define SLEY_LOAD_OWN(p) load_relaxed(p)

/* A compare-and-swap that fails is always relaxed. */
#define __atomic_compare_exchange_n(p, e, d, weak, order, failure)             \
	INLINE_CAS##order##failure(p, e, d)
#define INLINE_CAS__ATOMIC_ACQUIRE__ATOMIC_RELAXED(p, e, d) cas_acquire(p, e, d)
#define INLINE_CAS__ATOMIC_RELEASE__ATOMIC_RELAXED(p, e, d) cas_release(p, e, d)

#define __atomic_fetch_add(p, v, order) INLINE_ADD##order(p, v)
#define INLINE_ADD__ATOMIC_ACQUIRE(p, v) add_acquire(p, v)

#define __atomic_fetch_sub(p, v, order) INLINE_SUB##order(p, v)
#define INLINE_SUB__ATOMIC_RELEASE(p, v) sub_release(p, v)

#endif
