/* SPDX-License-Identifier: MIT */
/*
 * inline_paths.h - lets the explorer see the inline paths of public headers.
 *
 * Those use the compiler's atomics, not base/atomic.h.  Include this before the
 * header.  The orders are taken for stronger than they are; the explorer's
 * machines, SC and TSO, know no difference.
 */
#ifndef SLEY_TESTS_MODEL_INLINE_PATHS_H
#define SLEY_TESTS_MODEL_INLINE_PATHS_H

#include "base/atomic.h"

#define __atomic_load_n(p, order) load_acquire(p)
#define __atomic_compare_exchange_n(p, e, d, weak, order, failure)             \
	cas_acq_rel((p), (e), (d))
#define __atomic_fetch_add(p, v, order) add_acq_rel((p), (v))
#define __atomic_fetch_sub(p, v, order) sub_acq_rel((p), (v))

#endif
