/* SPDX-License-Identifier: MIT */
/*
 * function_table.h - the functions that subprocesses can run, by number.
 *
 * The table is filled while the program has one thread, and constant after the fork
 * server was forked.  So a number means the same in the program and in every
 * subprocess.  A call carries the number and not the address, and a subprocess
 * reports unknown numbers.
 *
 * Number 0 runs the nodes of a graph: there the function of the node is an argument.
 * Its address is the same in a subprocess, which is a fork of a fork of the program.
 * Only code that was loaded later (dlopen()) is missing there, and the call crashes.
 *
 * Further numbers of the library itself are for folders above this one, which set their
 * functions before main() begins.
 *
 * Rejected: addresses for all functions.  A number has a name, for messages about
 * failed calls, and cannot lead to arbitrary code.
 */
#ifndef SLEY_SUBPROCESS_FUNCTION_TABLE_H
#define SLEY_SUBPROCESS_FUNCTION_TABLE_H

#include "base/compiler.h"

#include <sley/subprocess.h>

/* The argument of number 0. */
struct subprocess_node {
	sley_node_fn *fn;
	uint64_t has_arg;
	unsigned char arg[SLEY_NODE_ARG_MAX];
};

enum own_function {
	FUNCTION_TABLE_NODE,
	FUNCTION_TABLE_CONTAINER, /* starts a container: route/isolated.h   */
	FUNCTION_TABLE_REQUEST,   /* runs a request there                   */
	NR_OWN_FUNCTIONS
};

struct subprocess_function {
	const char *name;
	sley_subprocess_fn *fn;
};

/* In a constructor. */
void function_table_set(enum own_function number, const char *name,
			sley_subprocess_fn *fn);

/* The number of @fn, or -ENOENT. */
must_check int function_table_find(sley_subprocess_fn *fn);

/* NULL: there is no function with this number. */
must_check const struct subprocess_function *function_table_at(uint32_t number);

#endif
