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
	size_t guard = stack_guard_size();
	char *map = os_map(guard + whole);
	int err = -ENOSYS;

	if (!map)
		return -ENOMEM;
	if (!no_guard_advice)
		err = os_guard_advise(map, guard);
	if (err)
		err = os_guard_protect(map, guard);
	if (err) {
		os_unmap(map, guard + whole);
		return -ENOMEM;
	}
	*out = (struct stack){ .low = map + guard, .size = whole };
	return 0;
}

void stack_unmap(struct stack *stack)
{
	size_t guard = stack_guard_size();

	os_unmap(stack->low - guard, guard + stack->size);
}
