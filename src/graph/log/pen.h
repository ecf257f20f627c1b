/* SPDX-License-Identifier: MIT */
/*
 * pen.h - formats text and passes it to the user's write function, piece by piece.
 *
 * The first error ends the writing: text that is put later goes nowhere.
 */
#ifndef SLEY_GRAPH_LOG_PEN_H
#define SLEY_GRAPH_LOG_PEN_H

#include "base/compiler.h"

#include <sley/graph_dump.h>

#include <stddef.h>
#include <stdint.h>

#define PEN_SIZE 4096
#define PEN_PIECE 400 /* bytes that one pen_put() may have */

struct pen {
	sley_graph_dump_fn *put;
	void *arg;
	int err;
	size_t nr;
	char text[PEN_SIZE];
};

/* Whole numbers and text of the library only: no locale changes these. */
printf_like(2, 3) void pen_put(struct pen *pen, const char *format, ...);

/*
 * Up to @letters of @name between the quotes of dot(1); other bytes become
 * question marks.
 */
void pen_put_name(struct pen *pen, const char *name, uint32_t letters);

/*
 * All of @text as a JSON string, with its quotes.  A byte that is no UTF-8 becomes
 * U+FFFD.
 */
void pen_put_json(struct pen *pen, const char *text);

/* In units for people: 870 ns, 12.3 us. */
void pen_put_time(struct pen *pen, uint64_t ns);

/* Writes the rest.  0, or the first error. */
must_check int pen_end(struct pen *pen);

#endif
