/* SPDX-License-Identifier: MIT */
/*
 * module.c - see module.h.
 */
#include "route/module.h"

#include "base/options.h"

#include <errno.h>

static bool name_fits(const char *name)
{
	size_t length = name ? strnlen(name, SLEY_POOL_NAME_MAX + 1) : 0;

	return length > 0 && length <= SLEY_POOL_NAME_MAX;
}

/* Numbers without a method may be left out of the table: a method without run(). */
static bool methods_fit(const struct sley_module *module)
{
	if (!module->nr_methods || !module->methods)
		return false;
	for (uint32_t i = 0; i < module->nr_methods; i++) {
		const struct sley_method *method = &module->methods[i];

		if (method->run && !name_fits(method->name))
			return false;
	}
	return true;
}

int module_check(const struct sley_module *module)
{
	if (!module || module->abi != SLEY_MODULE_ABI ||
	    module->size != sizeof(*module) ||
	    module->flags & ~(uint64_t)SLEY_MODULE_STATELESS ||
	    !options_are_clear(module->reserved))
		return -EINVAL;
	return name_fits(module->name) && methods_fit(module) ? 0 : -EINVAL;
}
