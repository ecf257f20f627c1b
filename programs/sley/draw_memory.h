/* SPDX-License-Identifier: MIT */
/*
 * draw_memory.h - the memory that a document may take, 2 GiB at most.
 *
 * jansson allocates through these functions.  A small file can be a large document: an
 * empty array is two bytes of text, and more than fifty in memory.
 */
#ifndef SLEY_PROGRAM_DRAW_MEMORY_H
#define SLEY_PROGRAM_DRAW_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

void *draw_malloc(size_t size);
void draw_free(void *memory);

/* Whether draw_malloc() has failed: jansson does not always say so. */
bool draw_memory_refused(void);

#endif
