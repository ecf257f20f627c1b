/* SPDX-License-Identifier: MIT */
/*
 * function_table.h - the functions that children can run, by number.
 *
 * Filled while the program has one thread, and constant since the server was forked:
 * so a number means the same in the program and in every child.  A call carries the
 * number and not the address, and a child that finds another one says so.
 *
 * Number 0 is what runs the nodes of a graph: the function of a node is an argument
 * there.  Its address is the same in a child, which is a fork of a fork of the
 * program; only what was loaded later (dlopen()) is not there, and the call crashes.
 *
 * Rejected: addresses for all.  A number has a name, for those who read why a call
 * has failed, and cannot lead anywhere.
 */
#ifndef SLEY_SUBPROCESS_FUNCTION_TABLE_H
#define SLEY_SUBPROCESS_FUNCTION_TABLE_H

#include "base/compiler.h"

#include <sley/subprocess.h>

/* What number 0 is called with. */
struct subprocess_node {
	sley_node_fn *fn;
	uint64_t has_arg;
	unsigned char arg[SLEY_NODE_ARG_MAX];
};

#define FUNCTION_TABLE_NODE 0

struct subprocess_function {
	const char *name;
	sley_subprocess_fn *fn;
};

/* Its number, or -ENOENT. */
must_check int function_table_find(sley_subprocess_fn *fn);

/* NULL: there is none with this number. */
must_check const struct subprocess_function *function_table_at(uint32_t number);

#endif
