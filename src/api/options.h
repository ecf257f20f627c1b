/* SPDX-License-Identifier: MIT */
/*
 * options.h - structs of options that may come from an older or newer caller.
 */
#ifndef SLEY_API_OPTIONS_H
#define SLEY_API_OPTIONS_H

#include "base/compiler.h"

#include <stddef.h>

/*
 * Copy @given, which starts with its size in 32 bits, to @out of @size bytes.
 * What an older caller does not have is zero; NULL is all zero.  -EINVAL: the
 * size is zero; -E2BIG: a newer caller has set something unknown here.
 */
must_check int options_copy(void *out, size_t size, const void *given);

#endif
