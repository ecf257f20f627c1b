/* SPDX-License-Identifier: MIT */
/*
 * options.h - structs of options that may come from an older or newer caller.
 */
#ifndef SLEY_BASE_OPTIONS_H
#define SLEY_BASE_OPTIONS_H

#include "base/compiler.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Copy @given, which starts with its size in 32 bits, to @out of @size bytes.
 * Members that an older caller does not have are zero; NULL is all zero.  -EINVAL:
 * the size is less than 4; -E2BIG: a newer caller has set something unknown here.
 */
must_check int options_copy(void *out, size_t size, const void *given);

/*
 * The other way round: @from of @size bytes to @out, which starts with its own
 * size.  Members that only a newer caller has are zero; -EINVAL: the size of @out
 * is less than 4.
 */
must_check int options_give(void *out, const void *from, size_t size);

/*
 * Is every word of the array @reserved zero?  If not, a newer caller has set a
 * member that is not known here: -E2BIG.
 */
#define options_are_clear(reserved)                                            \
	options_words_are_zero((reserved), array_size(reserved))

static inline bool options_words_are_zero(const uint64_t *reserved, size_t nr)
{
	uint64_t any = 0;

	for (size_t i = 0; i < nr; i++)
		any |= reserved[i];
	return !any;
}

/* options_copy() of @given to the struct *@out, with the reserved words zero. */
#define options_take(out, given)                                               \
	(options_copy((out), sizeof(*(out)), (given))                          \
		 ?: (options_are_clear((out)->reserved) ? 0 : -E2BIG))

/* Between 16 KiB and 1 GiB: see SLEY_ESTACK. */
static inline bool options_stack_fits(uint32_t stack_kib)
{
	return stack_kib >= 16 && stack_kib <= 1u << 20;
}

#endif
