/* SPDX-License-Identifier: MIT */
/*
 * stack_map.h - a stack of an unusual size, in a mapping of its own.
 *
 * Each pool has a single size; a task that asks for another size gets such a stack.
 */
#ifndef SLEY_MEM_STACK_MAP_H
#define SLEY_MEM_STACK_MAP_H

#include "mem/stack.h"

/* 0 or -ENOMEM.  @size is rounded up to whole pages. */
must_check int stack_map(struct stack *out, size_t size, bool no_guard_advice);
void stack_unmap(struct stack *stack);

#endif
