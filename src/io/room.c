/* SPDX-License-Identifier: MIT */
/*
 * room.c - see room.h.
 */
#include "io/room.h"

#include "core/wait/wait.h"
#include "os/clock.h"

#define ROOM_NS_MIN 1000000ull
#define ROOM_NS_MAX 50000000ull

int room_wait(uint64_t *ns, uint64_t deadline_ns)
{
	uint64_t now_ns = os_now();

	if (now_ns >= deadline_ns)
		return -ETIMEDOUT;
	*ns = *ns ? 2 * *ns : ROOM_NS_MIN;
	if (*ns > ROOM_NS_MAX)
		*ns = ROOM_NS_MAX;
	if (*ns > deadline_ns - now_ns)
		*ns = deadline_ns - now_ns;
	return wait_until(now_ns + *ns);
}
