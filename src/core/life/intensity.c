/* SPDX-License-Identifier: MIT */
/*
 * intensity.c - see intensity.h.
 */
#include "core/life/intensity.h"

#include "base/chaos.h"

static uint32_t place_of(const struct intensity *intensity, uint32_t i)
{
	return (uint32_t)(((uint64_t)intensity->first + i) % intensity->room);
}

static void drop_oldest(struct intensity *intensity)
{
	intensity->first = place_of(intensity, 1);
	intensity->nr--;
}

/* False: no memory. */
static bool grow(struct intensity *intensity, struct mem *mem)
{
	uint32_t room = intensity->room ? 2 * intensity->room : chaos_few(8, 1);
	uint64_t *at_ns;

	if (room < intensity->room)
		return false;
	at_ns = mem_alloc(mem, room * sizeof(*at_ns));
	if (!at_ns)
		return false;
	for (uint32_t i = 0; i < intensity->nr; i++)
		at_ns[i] = intensity->at_ns[place_of(intensity, i)];
	mem_free(mem, intensity->at_ns,
		 intensity->room * sizeof(*intensity->at_ns));
	intensity->at_ns = at_ns;
	intensity->room = room;
	intensity->first = 0;
	return true;
}

bool intensity_take(struct intensity *intensity, struct mem *mem, uint32_t most,
		    uint64_t within_ns, uint64_t now_ns)
{
	while (intensity->nr &&
	       now_ns - intensity->at_ns[intensity->first] > within_ns)
		drop_oldest(intensity);
	if (intensity->nr >= most)
		return false;
	if (intensity->nr == intensity->room && !grow(intensity, mem)) {
		if (!intensity->room)
			return true;
		drop_oldest(intensity);
	}
	intensity->at_ns[place_of(intensity, intensity->nr++)] = now_ns;
	return true;
}

void intensity_fini(struct intensity *intensity, struct mem *mem)
{
	mem_free(mem, intensity->at_ns,
		 intensity->room * sizeof(*intensity->at_ns));
	*intensity = (struct intensity){ .at_ns = NULL };
}
