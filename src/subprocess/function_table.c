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

/* A number of the library's own that was not set has no function. */
static struct subprocess_function
	table[NR_OWN_FUNCTIONS + SLEY_SUBPROCESS_FUNCTIONS_MAX] = {
		[FUNCTION_TABLE_NODE] = { "a node", run_node },
	};

static uint32_t nr_functions = NR_OWN_FUNCTIONS;

void function_table_set(enum own_function number, const char *name,
			sley_subprocess_fn *fn)
{
	table[number] = (struct subprocess_function){ name, fn };
}

int sley_subprocess_register(const char *name, sley_subprocess_fn *fn)
{
	for (uint32_t i = 0; i < nr_functions; i++) {
		bool same_name = table[i].fn &&
				 strcmp(table[i].name, name) == 0;

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
	return number < nr_functions && table[number].fn ? &table[number]
							 : NULL;
}
