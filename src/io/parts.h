/* SPDX-License-Identifier: MIT */
/*
 * parts.h - parts of memory that are written one after the other, with pauses.
 *
 * The caller's list is not changed.  So a write that was taken in part goes on with a
 * *window*: a copy of the next few parts, the first of which may be begun.
 */
#ifndef SLEY_IO_PARTS_H
#define SLEY_IO_PARTS_H

#include "base/compiler.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <sys/uio.h>

#define PARTS_WINDOW 8

struct parts {
	const struct iovec *part; /* of the caller                       */
	size_t nr;
	size_t first;  /* the part to go on with                             */
	size_t offset; /* in this part                                       */
	size_t nr_window;
	struct iovec window[PARTS_WINDOW];
};

/* 0, and the bytes of all parts; or -EINVAL, as writev(2). */
static inline must_check int parts_size(const struct iovec *part, int nr,
					size_t *size)
{
	if (nr < 0 || nr > IOV_MAX)
		return -EINVAL;
	*size = 0;
	for (int i = 0; i < nr; i++) {
		if (part[i].iov_len > SSIZE_MAX - *size)
			return -EINVAL;
		*size += part[i].iov_len;
	}
	return 0;
}

/* The same, and the first part is next. */
static inline must_check int
parts_init(struct parts *parts, const struct iovec *part, int nr, size_t *size)
{
	parts->part = part;
	parts->nr = (size_t)nr;
	parts->first = 0;
	parts->offset = 0;
	return parts_size(part, nr, size);
}

/* Makes the window: what comes next, @most bytes at most. */
static inline void parts_window(struct parts *parts, size_t most)
{
	size_t offset = parts->offset;

	parts->nr_window = 0;
	for (size_t i = parts->first; i < parts->nr && most; i++) {
		struct iovec *next = &parts->window[parts->nr_window];

		if (parts->nr_window == PARTS_WINDOW)
			break;
		next->iov_base = (char *)parts->part[i].iov_base + offset;
		next->iov_len = parts->part[i].iov_len - offset;
		if (next->iov_len > most)
			next->iov_len = most;
		most -= next->iov_len;
		offset = 0;
		/* A window of empty parts would not bring the write on. */
		parts->nr_window += next->iov_len > 0;
	}
}

/* @n bytes of the window are written. */
static inline void parts_advance(struct parts *parts, size_t n)
{
	while (n) {
		size_t left = parts->part[parts->first].iov_len - parts->offset;

		if (n < left) {
			parts->offset += n;
			return;
		}
		n -= left;
		parts->first++;
		parts->offset = 0;
	}
}

#endif
