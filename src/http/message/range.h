/* SPDX-License-Identifier: MIT */
/*
 * range.h - which bytes of a file a "Range: bytes=..." asks for.
 *
 * A field that is malformed, has another unit or too many ranges is ignored, as RFC
 * 9110 demands or allows: the answer is then the whole file.  The same is done when
 * the ranges together are larger than the file, since ranges that overlap would let a
 * short request ask for a large answer, and when the file is empty.
 */
#ifndef SLEY_HTTP_RANGE_H
#define SLEY_HTTP_RANGE_H

#include <stddef.h>
#include <stdint.h>

struct http_range {
	uint64_t first;
	uint64_t size; /* at least 1 */
};

enum http_range_answer {
	HTTP_RANGE_WHOLE,        /* 200: send everything                   */
	HTTP_RANGE_PARTS,        /* 206: send the ranges, in their order   */
	HTTP_RANGE_UNSATISFIABLE /* 416: no range has a byte of the file   */
};

/*
 * @value of @size bytes is the value of the field, @file_size that of the file.  Ranges
 * without a byte of the file are left out.  *@nr is the number of ranges in @ranges, 0
 * unless the answer is HTTP_RANGE_PARTS.
 */
enum http_range_answer http_range_parse(const char *value, size_t size,
					uint64_t file_size,
					struct http_range *ranges, size_t max,
					size_t *nr);

#endif
