/* SPDX-License-Identifier: MIT */
/*
 * stack_map.c - see stack_map.h.
 */
#include "mem/stack_map.h"

#include "base/bits.h"
#include "os/map.h"

#include <errno.h>

int stack_map(struct stack *out, size_t size, bool no_guard_advice)
{
	size_t whole = round_up(size, os_page_size());
	char *map = os_map(STACK_GUARD_SIZE + whole);
	int err = -ENOSYS;

	if (!map)
		return -ENOMEM;
	if (!no_guard_advice)
		err = os_guard_advise(map, STACK_GUARD_SIZE);
	if (err)
		err = os_guard_protect(map, STACK_GUARD_SIZE);
	if (err) {
		os_unmap(map, STACK_GUARD_SIZE + whole);
		return -ENOMEM;
	}
	*out = (struct stack){ .low = map + STACK_GUARD_SIZE, .size = whole };
	return 0;
}

void stack_unmap(struct stack *stack)
{
	os_unmap(stack->low - STACK_GUARD_SIZE, STACK_GUARD_SIZE + stack->size);
}
