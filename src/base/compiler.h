/* SPDX-License-Identifier: MIT */
/*
 * compiler.h - the few things the library asks of the compiler.
 */
#ifndef SLEY_BASE_COMPILER_H
#define SLEY_BASE_COMPILER_H

#include <stddef.h>

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define noinline __attribute__((__noinline__))
#define must_check __attribute__((warn_unused_result))
#define noreturn_fn __attribute__((noreturn))
#define cold __attribute__((__cold__, __noinline__))
#define printf_like(fmt, args) __attribute__((format(printf, fmt, args)))

#define CACHE_LINE 64
#define cache_aligned __attribute__((aligned(CACHE_LINE)))

/* clang-format off: it takes the minus for a sign. */
#define container_of(ptr, type, member)                                        \
	((type *)((char *)(ptr)-offsetof(type, member)))
/* clang-format on */

#define array_size(a) (sizeof(a) / sizeof((a)[0]))

#endif
