/* SPDX-License-Identifier: MIT */
/*
 * draw_text.h - names and times in an XML text.
 */
#ifndef SLEY_PROGRAM_DRAW_TEXT_H
#define SLEY_PROGRAM_DRAW_TEXT_H

#include <stdint.h>
#include <stdio.h>

/*
 * Up to @letters of @name, which is UTF-8.  A letter that XML does not allow, or
 * that would be a command to a terminal, becomes a question mark.
 */
void text_put_name(FILE *file, const char *name, uint32_t letters);

/* How many letters text_put_name() would put. */
uint32_t text_count(const char *name, uint32_t letters);

/* As people read it: 870 ns, 12.3 us. */
void text_put_time(FILE *file, uint64_t ns);

#endif
