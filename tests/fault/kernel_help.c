/* SPDX-License-Identifier: MIT */
/*
 * kernel_help.c - what processes of a domain ask of the kernel, where calls fail.
 */
#include "fault/sweep.h"

#include "os/futex.h"

#include <errno.h>

SCENARIO(a_sleep_on_many_words)
{
	uint32_t word = 1;
	const struct os_futex_word words[] = { { .word = &word } };

	(void)TRY(os_futex_wait_many(words, 1, UINT64_MAX), -ENOSYS, -ENOMEM);
}
