/* SPDX-License-Identifier: MIT */
/*
 * serving.c - see serving.h.
 */
#include "route/serving.h"

#include "route/container.h"

void serving_mark(struct cleanup *cleanup)
{
	(void)cleanup;
}

void serving_begin_thread(struct serving *here)
{
	cleanup_add(&sley__self.serving, &here->cleanup, serving_mark);
}

void serving_end_thread(const struct serving *here)
{
	serving_leave(&sley__self.serving, here);
}

/* The first entry from @cleanup on; NULL: there is none. */
static const struct serving *first_from(const struct cleanup *cleanup)
{
	while (cleanup && cleanup->fn != serving_mark)
		cleanup = cleanup->next;
	return (const struct serving *)(const void *)cleanup;
}

_Static_assert(offsetof(struct serving, cleanup) == 0,
	       "an entry begins with its cleanup");

static const struct serving *innermost(void)
{
	const struct strand *strand = strand_current();

	return first_from(strand ? strand->cleanups : sley__self.serving);
}

static const struct serving *outer(const struct serving *here)
{
	return first_from(here->cleanup.next);
}

bool serving_container(const struct sley_container *container)
{
	const struct serving *here = innermost();

	while (here && here->container != container)
		here = outer(here);
	return here;
}

bool serving_pool(const struct sley_pool *pool)
{
	const struct serving *here = innermost();

	while (here && here->container->pool != pool)
		here = outer(here);
	return here;
}

bool serving_router(const struct sley_router *router)
{
	const struct serving *here = innermost();

	while (here && here->container->pool->router != router)
		here = outer(here);
	return here;
}
