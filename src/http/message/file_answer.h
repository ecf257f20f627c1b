/* SPDX-License-Identifier: MIT */
/*
 * file_answer.h - which answer a request for a file gets: all of it, a part, or none.
 *
 * The conditions are looked at in the order of RFC 9110, section 13.2.2:
 *
 *   If-Match, else If-Unmodified-Since        does not hold: 412
 *   If-None-Match, else If-Modified-Since     does not hold: 304
 *   Range, unless If-Range names another file 206 or 416
 *                                             200
 *
 * A date that cannot be parsed is no condition.  Several ranges get the whole file:
 * the parts of an answer with several would cost more code than any client gains.
 *
 * The tag is made of the size and of the time of the last change, in nanoseconds.  It
 * does not tell the number of the inode, which would tell about the machine.
 */
#ifndef SLEY_HTTP_FILE_ANSWER_H
#define SLEY_HTTP_FILE_ANSWER_H

#include "http/message/head.h"
#include "http/message/range.h"

#include <time.h>

#define HTTP_TAG_MAX 52

struct http_file {
	uint64_t size;
	struct timespec changed;
	char tag[HTTP_TAG_MAX]; /* with quotes and a NUL; by http_file_init() */
};

void http_file_init(struct http_file *file, uint64_t size,
		    struct timespec changed);

/* Returns the status; *@part is the part to send, with 200 all, with others none. */
int http_file_status(const struct http_file *file, const struct http_head *head,
		     const char *buffer, struct http_range *part);

#endif
