/* SPDX-License-Identifier: MIT */
/*
 * params.h - the parameters of a module, as the text that its create() gets.
 *
 *     params:                    limit=100
 *       limit: 100               log.level=info
 *       log:                     paths.0=/a
 *         level: info            paths.1=/b
 *       paths: [ /a, /b ]
 *
 * A line for each value; keys of inner maps, and numbers of a list, stand behind a point.
 * A module finds a line without a parser, and a program can write such a text itself.
 * Rejected: the YAML as it is, since each module would need a parser of its own.
 */
#ifndef SLEY_CONFIG_PARAMS_H
#define SLEY_CONFIG_PARAMS_H

#include "config/tree.h"

#define PARAMS_MAX 1000 /* values */

/* The fields .params and .params_size of a struct sley_config_pool. */
struct params {
	const char *text; /* with a 0 behind; NULL: there are none            */
	size_t size;      /* without that 0                                  */
};

/* 0; -EINVAL: a mistake was reported; -ENOMEM. */
must_check int params_make(struct reader *reader, const struct node *node,
			   struct params *out);

#endif
