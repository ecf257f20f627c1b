/* SPDX-License-Identifier: MIT */
/*
 * inline_paths.h - lets the explorer see the inline paths of public headers.
 *
 * Those use the compiler's atomics, not base/atomic.h.  Include this before the
 * header.
 */
#ifndef SLEY_TESTS_MODEL_INLINE_PATHS_H
#define SLEY_TESTS_MODEL_INLINE_PATHS_H

#include "base/atomic.h"

#define INLINE_AT(p, name, order) MODEL_AT(p, name, order, MODEL_ORDER_RELAXED)

#define __atomic_load_n(p, order)                                              \
	((__typeof__(*(p)))model_load(INLINE_AT(p, "load_n", order)))
#define __atomic_compare_exchange_n(p, e, d, weak, order, otherwise)           \
	model_cas(MODEL_AT(p, "compare_exchange_n", order, otherwise), (e),    \
		  (uint64_t)(d))
#define __atomic_fetch_add(p, v, order)                                        \
	((__typeof__(*(p)))model_rmw(INLINE_AT(p, "fetch_add", order),         \
				     MODEL_ADD, (uint64_t)(v)))
#define __atomic_fetch_sub(p, v, order)                                        \
	((__typeof__(*(p)))model_rmw(INLINE_AT(p, "fetch_sub", order),         \
				     MODEL_ADD, -(uint64_t)(v)))

#endif
