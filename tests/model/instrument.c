/* SPDX-License-Identifier: MIT */
/*
 * instrument.c - plain accesses of the sources under test, as the compiler
 * reports them.
 *
 * Sources of models are compiled with -fsanitize=thread and linked without that
 * library: the calls it would get come here.  Atomic built-ins would become
 * calls, too; those are missing on purpose, so that a source that goes around
 * base/atomic.h does not link.
 */
#include "engine.h"
#include "instrument.h"

#include <string.h>

/* The compiler's names. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define CALLER __builtin_return_address(0)

#define HOOKS(n)                                                               \
	void __tsan_read##n(void *p)                                           \
	{                                                                      \
		shadow_plain(p, n, false, CALLER);                             \
	}                                                                      \
	void __tsan_write##n(void *p)                                          \
	{                                                                      \
		shadow_plain(p, n, true, CALLER);                              \
	}                                                                      \
	void __tsan_unaligned_read##n(void *p)                                 \
	{                                                                      \
		shadow_plain(p, n, false, CALLER);                             \
	}                                                                      \
	void __tsan_unaligned_write##n(void *p)                                \
	{                                                                      \
		shadow_plain(p, n, true, CALLER);                              \
	}                                                                      \
	void __tsan_read_write##n(void *p)                                     \
	{                                                                      \
		shadow_plain(p, n, true, CALLER);                              \
	}

HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

void __tsan_read_range(void *p, unsigned long size)
{
	shadow_plain(p, size, false, CALLER);
}

void __tsan_write_range(void *p, unsigned long size)
{
	shadow_plain(p, size, true, CALLER);
}

void __tsan_init(void)
{
}

void __tsan_func_entry(void *caller)
{
	(void)caller;
}

void __tsan_func_exit(void)
{
}

void *model_memset(void *p, int c, size_t size)
{
	shadow_plain(p, size, true, CALLER);
	return memset(p, c, size);
}

void *model_memcpy(void *to, const void *from, size_t size)
{
	shadow_plain(from, size, false, CALLER);
	shadow_plain(to, size, true, CALLER);
	return memcpy(to, from, size);
}
