/* SPDX-License-Identifier: MIT */
/*
 * 49_inspect.c - what a pool is doing: as a struct, and as JSON for people.
 *
 *   cc 49_inspect.c $(pkg-config --cflags --libs sley)
 */
#include <sley/sley.h>
#include <stdio.h>
#include <string.h>

/* Waits for the event that its IN part points at. */
static int wait_for(void *self, struct sley_request *request)
{
	size_t size;
	struct sley_event *const *event = sley_request_in(request, &size);

	(void)self;
	return sley_event_wait(*event);
}

static const struct sley_method methods[] = {
	{ .name = "wait", .run = wait_for },
};
static const struct sley_module module = { SLEY_MODULE_HEAD("waiter"),
					   .methods = methods,
					   .nr_methods = 1 };

int main(void)
{
	struct sley_event event = SLEY_EVENT_INIT, *in = &event;
	struct sley_pool_stats stats = SLEY_POOL_STATS_INIT;
	struct sley_router *router;
	struct sley_request job;
	struct sley_pool *jobs;
	char text[512] = "";
	struct sley *rt;

	if (sley_create(&rt, NULL) || sley_router_create(rt, &router, NULL) ||
	    sley_router_add(router, &module) ||
	    sley_pool_open(router, &jobs, "jobs",
			   SLEY_POOL_OPTIONS(.module = "waiter",
					     .containers = 2)) ||
	    sley_submit(jobs, &job,
			SLEY_REQUEST(.in = &in, .in_size = sizeof(in))) ||
	    sley_pool_inspect(jobs, &stats) ||
	    sley_pool_inspect_json(jobs, "container_stats:0", text,
				   sizeof(text)) < 0)
		return 1;
	printf("%s: %d request inside\n%s\n", stats.name, (int)stats.inside,
	       text);
	sley_event_set(&event);
	if (sley_request_wait(&job))
		return 1;
	sley_pool_close(jobs);
	return sley_router_destroy(router) || sley_destroy(rt) ||
	       stats.inside != 1 || !strstr(text, "\"inside\":1,");
}
