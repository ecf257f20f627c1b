/* SPDX-License-Identifier: MIT */
/*
 * symbol.c - see symbol.h.
 */
#include "os/symbol.h"

#include "os/fault.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static void put(char *out, size_t size, const char *text, uintptr_t offset)
{
	if (offset)
		(void)snprintf(out, size, "%s+0x%zx", text, (size_t)offset);
	else
		(void)snprintf(out, size, "%s", text);
}

void os_symbol(char *out, size_t size, const void *code)
{
	uintptr_t address = (uintptr_t)code;
	const char *base;
	Dl_info info;

	if (fault_error("dladdr", ENOENT) || !dladdr(code, &info) ||
	    !info.dli_fname) {
		(void)snprintf(out, size, "0x%zx", (size_t)address);
		return;
	}
	if (info.dli_sname) {
		put(out, size, info.dli_sname,
		    address - (uintptr_t)info.dli_saddr);
		return;
	}
	base = strrchr(info.dli_fname, '/');
	put(out, size, base ? base + 1 : info.dli_fname,
	    address - (uintptr_t)info.dli_fbase);
}

static bool is_found(const void *address)
{
	Dl_info info;

	/* fault: os_symbol_is_known() is the site. */
	return dladdr(address, &info) != 0;
}

bool os_symbol_is_known(const void *address)
{
	static const char here;

	return !fault_error("dladdr", EOPNOTSUPP) &&
	       (is_found(address) || !is_found(&here));
}
