/* SPDX-License-Identifier: MIT */
/*
 * pile.h - memory of many small things that is freed as a whole.
 *
 * What a file says is read once, kept as long as the file object, and then forgotten
 * together.  Nothing on the pile moves.  One thread at a time.
 */
#ifndef SLEY_CONFIG_PILE_H
#define SLEY_CONFIG_PILE_H

#include "base/compiler.h"

#include <stddef.h>

struct pile_block;

/* Zeroed memory is an empty pile. */
struct pile {
	struct pile_block *top;
};

/* @size bytes, zeroed, aligned for any object; NULL: no memory. */
must_check void *pile_alloc(struct pile *pile, size_t size);

/* A copy of @size bytes with a 0 behind; NULL: no memory. */
must_check char *pile_text(struct pile *pile, const char *text, size_t size);

void pile_free(struct pile *pile);

#endif
