/* SPDX-License-Identifier: MIT */
/*
 * options.c - see options.h.
 */
#include "base/options.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

int options_copy(void *out, size_t size, const void *given)
{
	uint32_t given_size;

	memset(out, 0, size);
	if (!given)
		return 0;
	memcpy(&given_size, given, sizeof(given_size));
	if (given_size < sizeof(given_size))
		return -EINVAL;
	for (size_t i = size; i < given_size; i++) {
		if (((const char *)given)[i])
			return -E2BIG;
	}
	memcpy(out, given, given_size < size ? given_size : size);
	return 0;
}

int options_give(void *out, const void *from, size_t size)
{
	uint32_t out_size;

	memcpy(&out_size, out, sizeof(out_size));
	if (out_size < sizeof(out_size))
		return -EINVAL;
	memset(out, 0, out_size);
	memcpy(out, from, out_size < size ? out_size : size);
	memcpy(out, &out_size, sizeof(out_size));
	return 0;
}
