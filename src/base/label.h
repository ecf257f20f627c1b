/* SPDX-License-Identifier: MIT */
/*
 * label.h - a name, or, for an unnamed object, the code that created the object.
 *
 * One word, since every task carries a label and hardly any is ever printed.  The
 * top bit marks a place: no address of a program has that bit.
 */
#ifndef SLEY_BASE_LABEL_H
#define SLEY_BASE_LABEL_H

#include <stddef.h>
#include <stdint.h>

#define LABEL_PLACE ((uintptr_t)1 << (8 * sizeof(uintptr_t) - 1))

static inline const void *label_of_place(const void *code)
{
	return (const void *)((uintptr_t)code | LABEL_PLACE);
}

/* NULL: there is no name. */
static inline const char *label_name(const void *label)
{
	return (uintptr_t)label & LABEL_PLACE ? NULL : label;
}

/* NULL: there is a name. */
static inline const void *label_place(const void *label)
{
	uintptr_t word = (uintptr_t)label;

	return word & LABEL_PLACE ? (const void *)(word & ~LABEL_PLACE) : NULL;
}

#endif
