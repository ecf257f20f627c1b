/* SPDX-License-Identifier: MIT */
/*
 * http_reference.h - HTTP by the letter, slow and plain, to compare with.
 *
 * Shares no code and no table with src/http/message: lines are found by a search for
 * CR LF, classes of characters are strings.
 */
#ifndef SLEY_TESTS_FUZZ_HTTP_REFERENCE_H
#define SLEY_TESTS_FUZZ_HTTP_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct reference_limits {
	size_t line_size, head_size, nr_fields;
};

struct reference_head {
	size_t size;
	size_t nr_fields;
	const char *names[64], *values[64];
	size_t name_sizes[64], value_sizes[64];
	bool keep_alive, expects_continue, has_length, is_chunked;
	uint64_t length;
	int status;
};

/* Is there a whole and good head at the beginning of @text? */
bool reference_head(const char *text, size_t size, bool is_response,
		    const struct reference_limits *limits,
		    struct reference_head *head);

struct reference_chunks {
	size_t size; /* of the chunks, with their frame */
	size_t data_size;
	char data[48]; /* a larger body is not good */
};

/* Is there a whole and good body in chunks at the beginning of @text? */
bool reference_chunks(const char *text, size_t size, size_t max_extensions,
		      size_t max_trailers, struct reference_chunks *chunks);

#endif
