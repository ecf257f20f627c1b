/* SPDX-License-Identifier: MIT */
/*
 * module.h - checks the table of a module.
 */
#ifndef SLEY_ROUTE_MODULE_H
#define SLEY_ROUTE_MODULE_H

#include "base/compiler.h"

#include <sley/module.h>
#include <string.h>

/* 0; -EINVAL: no module of this version, or one that is not complete. */
must_check int module_check(const struct sley_module *module);

static inline bool module_is_same(const struct sley_module *module,
				  const char *name)
{
	return strcmp(module->name, name) == 0;
}

#endif
