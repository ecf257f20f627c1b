/* SPDX-License-Identifier: MIT */
/*
 * tolerance.c - see tolerance.h.
 */
#include "core/tolerance.h"

#include "base/chaos.h"

static uint32_t place_of(const struct tolerance *tolerance, uint32_t i)
{
	return (uint32_t)(((uint64_t)tolerance->first + i) % tolerance->room);
}

static void drop_oldest(struct tolerance *tolerance)
{
	tolerance->first = place_of(tolerance, 1);
	tolerance->nr--;
}

/* False: no memory. */
static bool grow(struct tolerance *tolerance, struct mem *mem)
{
	uint32_t room = tolerance->room ? 2 * tolerance->room : chaos_few(8, 1);
	uint64_t *at_ns;

	if (room < tolerance->room)
		return false;
	at_ns = mem_alloc(mem, room * sizeof(*at_ns));
	if (!at_ns)
		return false;
	for (uint32_t i = 0; i < tolerance->nr; i++)
		at_ns[i] = tolerance->at_ns[place_of(tolerance, i)];
	mem_free(mem, tolerance->at_ns,
		 tolerance->room * sizeof(*tolerance->at_ns));
	tolerance->at_ns = at_ns;
	tolerance->room = room;
	tolerance->first = 0;
	return true;
}

bool tolerance_take(struct tolerance *tolerance, struct mem *mem, uint32_t most,
		    uint64_t within_ns, uint64_t now_ns)
{
	while (tolerance->nr &&
	       now_ns - tolerance->at_ns[tolerance->first] > within_ns)
		drop_oldest(tolerance);
	if (tolerance->nr >= most)
		return false;
	if (tolerance->nr == tolerance->room && !grow(tolerance, mem)) {
		if (!tolerance->room)
			return true;
		drop_oldest(tolerance);
	}
	tolerance->at_ns[place_of(tolerance, tolerance->nr++)] = now_ns;
	return true;
}

void tolerance_fini(struct tolerance *tolerance, struct mem *mem)
{
	mem_free(mem, tolerance->at_ns,
		 tolerance->room * sizeof(*tolerance->at_ns));
	*tolerance = (struct tolerance){ .at_ns = NULL };
}
