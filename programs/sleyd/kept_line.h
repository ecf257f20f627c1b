/* SPDX-License-Identifier: MIT */
/*
 * kept_line.h - a pool that is kept, as a line of the file.  See kept.h.
 */
#ifndef SLEYD_KEPT_LINE_H
#define SLEYD_KEPT_LINE_H

#include <sley/pool.h>
#include <stdio.h>

/* All texts are copies. */
struct kept_pool {
	char *name;
	struct sley_pool_options options;
};

/* 0 or -ENOMEM; -EINVAL: the options name no module. */
int kept_line_copy(struct kept_pool *pool, const char *name,
		   const struct sley_pool_options *options);
void kept_line_free(struct kept_pool *pool);

/* @line ends with a 0, and is changed.  0; -EINVAL: it is no record; -ENOMEM. */
int kept_line_read(char *line, struct kept_pool *pool);

/* 0, or -errno. */
int kept_line_write(const struct kept_pool *pool, FILE *file);

#endif
