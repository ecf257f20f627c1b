/* SPDX-License-Identifier: MIT */
/*
 * sley/param.h - the parameters of a module as a text.
 *
 * The .params of a pool (<sley/pool.h>) are bytes that the module understands.  A module
 * whose pools are made by a configuration file (<sley/config_file.h>) gets a text, with a
 * line for each value:
 *
 *     limit=100
 *     log.level=info
 *     paths.0=/a
 *
 * and finds its values with these calls, in create():
 *
 *     err = sley_param_number(info->params, info->params_size, "limit", &limit);
 *
 * A program may write such a text itself; the size does not count the 0 at its end, which
 * would belong to the last value, and make -EINVAL of a number.  A module that takes a struct as well lets the
 * struct begin with its own size in 32 bits; sley_params_are_text() tells them apart.
 */
#ifndef SLEY_PARAM_H
#define SLEY_PARAM_H

#include <sley/compiler.h>

SLEY_BEGIN_DECLS

/*
 * sley_params_are_text - are the parameters a text, and no struct with its size first?
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none; false if there are no parameters
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS bool
sley_params_are_text(const void *params, size_t size);

/*
 * sley_params_check - has the text only parameters of these names?
 *
 * @names ends with NULL.  The name "log." stands for all names that begin so.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   -EINVAL   there is another one, or a line without '='
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_params_check(const void *params, size_t size, const char *const names[]);

/*
 * sley_param_find - the value of a parameter, without a 0 behind.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    the value lies in @params; *@value_size is its length.
 * Errors:   none; NULL if there is no such parameter
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS const char *
sley_param_find(const void *params, size_t size, const char *name,
		size_t *value_size);

/*
 * sley_param_number - the value of a parameter that is a number.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    *@number is written on success only.
 * Errors:   -ENOENT   there is no such parameter
 *           -EINVAL   it is no decimal number
 *           -ERANGE   it is above 2^64 - 1
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_param_number(const void *params, size_t size, const char *name,
		  uint64_t *number);

/*
 * sley_param_switch - the value of a parameter that is true or false.
 *
 * The words are those of YAML: true and false, yes and no, on and off, in small or
 * capital letters.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    *@on is written on success only.
 * Errors:   -ENOENT   there is no such parameter
 *           -EINVAL   it is none of these words
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_param_switch(const void *params, size_t size, const char *name, bool *on);

SLEY_END_DECLS
#endif
