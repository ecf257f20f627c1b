/* SPDX-License-Identifier: MIT */
/*
 * function_table.c - see function_table.h.
 */
#include "subprocess/function_table.h"

#include "subprocess/collector.h"

#include <errno.h>
#include <string.h>

static int run_node(struct sley_subprocess_work *work)
{
	struct subprocess_node node;

	memcpy(&node, work->arg, sizeof(node));
	return node.fn(node.has_arg ? node.arg : NULL);
}

static struct subprocess_function table[SLEY_SUBPROCESS_FUNCTIONS_MAX + 1] = {
	[FUNCTION_TABLE_NODE] = { "a node", run_node },
};

static uint32_t nr_functions = 1;

int sley_subprocess_register(const char *name, sley_subprocess_fn *fn)
{
	for (uint32_t i = 0; i < nr_functions; i++) {
		bool same_name = strcmp(table[i].name, name) == 0;

		if (same_name && table[i].fn == fn)
			return 0;
		if (same_name || table[i].fn == fn)
			return -EEXIST;
	}
	if (collector_exists())
		return -EBUSY;
	if (nr_functions == array_size(table))
		return -ENOSPC;
	table[nr_functions++] = (struct subprocess_function){ name, fn };
	return 0;
}

int function_table_find(sley_subprocess_fn *fn)
{
	for (uint32_t i = 0; i < nr_functions; i++) {
		if (table[i].fn == fn)
			return (int)i;
	}
	return -ENOENT;
}

const struct subprocess_function *function_table_at(uint32_t number)
{
	return number < nr_functions ? &table[number] : NULL;
}
