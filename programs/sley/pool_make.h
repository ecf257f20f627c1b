/* SPDX-License-Identifier: MIT */
/*
 * pool_make.h - a pool that a daemon shall make, from the command line or from a file.
 */
#ifndef SLEY_PROGRAM_POOL_MAKE_H
#define SLEY_PROGRAM_POOL_MAKE_H

#include "remote.h"

struct pool_make {
	const char *containers, *max_restarts, *limit; /* as they were given */
	bool keep, isolated;
	char *params; /* lines of NAME=VALUE; or NULL                         */
	size_t params_size;
	uint64_t nr_containers, nr_restarts, limit_ms;
};

#define POOL_MAKE_OPTIONS(make)                                                \
	{ .name = "containers", .text = &(make)->containers },                 \
		{ .name = "max-restarts", .text = &(make)->max_restarts },     \
		{ .name = "limit", .text = &(make)->limit },                   \
		{ .name = "keep", .flag = &(make)->keep },                     \
		{ .name = "isolated", .flag = &(make)->isolated },             \
	{                                                                      \
		.name = "param", .each = pool_make_param, .self = (make)       \
	}

/* A change was made, and the file of the pools that are kept was not written. */
bool pool_make_is_unkept(int err);

/* Adds a line to the params.  A status. */
int pool_make_param(void *self, const char *text);

/* The numbers of the options.  A status. */
/* STATUS_OK, or STATUS_USAGE with a line. */
int pool_make_name(const char *name);

int pool_make_numbers(struct pool_make *make, const struct command *command);
void pool_make_free(struct pool_make *make);

/* 0, or an error. */
int pool_make_send(const struct pool_make *make, struct remote *remote,
		   const char *pool, const char *module);
int pool_make_explain(const struct pool_make *make, const struct remote *remote,
		      int err, const char *pool, const char *module);

/* All pools of a configuration file.  A status. */
int pool_make_file(struct remote *remote, const char *path);

#endif
