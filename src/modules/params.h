/* SPDX-License-Identifier: MIT */
/*
 * params.h - .params of a pool, as the modules of the library take them: a struct that
 * begins with its size, or a text (<sley/param.h>).
 */
#ifndef SLEY_MODULES_PARAMS_H
#define SLEY_MODULES_PARAMS_H

#include "base/compiler.h"

#include <errno.h>
#include <sley/module.h>
#include <sley/param.h>
#include <string.h>

static inline bool params_are_text(const struct sley_container_info *info)
{
	return sley_params_are_text(info->params, info->params_size);
}

/* Are there as many bytes as the struct says?  Then options_take() may copy it. */
static inline must_check bool
params_are_struct(const struct sley_container_info *info)
{
	uint32_t size;

	if (!info->params || info->params_size < sizeof(size))
		return false;
	memcpy(&size, info->params, sizeof(size));
	return size <= info->params_size;
}

/* The number of that name, at most @max; *@to stays as it is if there is none. */
static inline must_check int
params_number(const struct sley_container_info *info, const char *name,
	      uint32_t max, uint32_t *to)
{
	uint64_t number;
	int err = sley_param_number(info->params, info->params_size, name,
				    &number);

	if (err)
		return err == -ENOENT ? 0 : err;
	if (number > max)
		return -ERANGE;
	*to = (uint32_t)number;
	return 0;
}

/* Sets @flag in *@to if the switch of that name is on; clears it if it is off. */
static inline must_check int params_flag(const struct sley_container_info *info,
					 const char *name, uint32_t flag,
					 uint32_t *to)
{
	bool on;
	int err = sley_param_switch(info->params, info->params_size, name, &on);

	if (err)
		return err == -ENOENT ? 0 : err;
	*to = on ? *to | flag : *to & ~flag;
	return 0;
}

#endif
