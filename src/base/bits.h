/* SPDX-License-Identifier: MIT */
/*
 * bits.h - bit operations on one integer: first and last bit set, count, rounding.
 */
#ifndef SLEY_BASE_BITS_H
#define SLEY_BASE_BITS_H

#include "base/assert.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Index of the lowest set bit, -1 if no bit is set. */
static inline int bits_first(uint64_t word)
{
	return word ? __builtin_ctzll(word) : -1;
}

/* Index of the highest set bit, -1 if no bit is set. */
static inline int bits_last(uint64_t word)
{
	return word ? 63 - __builtin_clzll(word) : -1;
}

static inline int popcount(uint64_t word)
{
	return __builtin_popcountll(word);
}

/* Zero is no power of two. */
static inline bool is_pow2(uint64_t value)
{
	return value && !(value & (value - 1));
}

/* The smallest multiple of @align, a power of two, not below @size. */
static inline size_t round_up(size_t size, size_t align)
{
	sley_assert(is_pow2(align));
	sley_assert(size <= SIZE_MAX - (align - 1));
	return (size + align - 1) & ~(align - 1);
}

#endif
