/* SPDX-License-Identifier: MIT */
/*
 * probe.c - the module of routing.h.
 */
#include "conformance/route/routing.h"

struct probe_counts probe_counts;
struct sley_query probe_answer;

struct probe {
	uint32_t id;
	atomic_int running; /* in this container */
};

static int create(void **self, const struct sley_container_info *info)
{
	struct probe *probe;

	if (atomic_load(&probe_counts.create_fails_at) == (int)info->id + 1)
		return -EIO;
	probe = calloc(1, sizeof(*probe));
	CHECK(probe != NULL);
	probe->id = info->id;
	atomic_fetch_add(&probe_counts.created, 1);
	*self = probe;
	return 0;
}

static void destroy(void *self)
{
	struct probe *probe = self;

	/* Methods of other containers may run. */
	CHECK_EQ(atomic_load(&probe->running), 0);
	atomic_fetch_add(&probe_counts.destroyed, 1);
	free(probe);
}

static int echo(void *self, struct sley_request *request)
{
	size_t size;
	const void *in = sley_request_in(request, &size);

	(void)self;
	return sley_request_answer(request, in, size);
}

static int tell_where(void *self, struct sley_request *request)
{
	const struct probe *probe = self;
	struct place place = { probe->id, sley_worker() };

	return sley_request_answer(request, &place, sizeof(place));
}

static int wait_for(void *self, struct sley_request *request)
{
	size_t size;
	struct sley_event *const *event = sley_request_in(request, &size);
	struct probe *probe = self;
	int err;

	CHECK_EQ(size, sizeof(*event));
	atomic_fetch_add(&probe_counts.begun, 1);
	atomic_fetch_add(&probe->running, 1);
	atomic_fetch_add(&probe_counts.running, 1);
	err = sley_event_wait(*event);
	atomic_fetch_sub(&probe_counts.running, 1);
	atomic_fetch_sub(&probe->running, 1);
	return err;
}

static int fail(void *self, struct sley_request *request)
{
	size_t size;
	const int *code = sley_request_in(request, &size);

	(void)self;
	return code ? *code : -EIO;
}

static int tell_id(void *self, struct sley_request *request)
{
	const struct probe *probe = self;
	uint64_t id = probe->id;

	return sley_request_answer(request, &id, sizeof(id));
}

/* Each answer is a digit, and the result is the digits in a row. */
static int append(void *into, size_t room, size_t *size, const void *from,
		  size_t from_size)
{
	uint64_t a, b;

	CHECK_EQ(room, sizeof(a));
	CHECK_EQ(*size, sizeof(a));
	CHECK_EQ(from_size, sizeof(b));
	memcpy(&a, into, sizeof(a));
	memcpy(&b, from, sizeof(b));
	a = 10 * a + b;
	memcpy(into, &a, sizeof(a));
	return 0;
}

static int hold(void *self, struct sley_request *request)
{
	size_t size;
	struct gate *const *gate = sley_request_in(request, &size);

	(void)self;
	gate_hold(*gate);
	return 0;
}

static int count(void *self, struct sley_request *request)
{
	(void)self;
	(void)request;
	atomic_fetch_add(&probe_counts.begun, 1);
	return 0;
}

static int spin(void *self, struct sley_request *request)
{
	size_t size;
	const uint64_t *ns = sley_request_in(request, &size);
	uint64_t end_ns = sley_now() + (ns ? *ns : 0);

	(void)self;
	while (sley_now() < end_ns)
		;
	return 0;
}

static uint64_t one_mib(void *self, const struct sley_request *request)
{
	(void)self;
	(void)request;
	return 1 << 20;
}

static struct sley_query schedule(void *self,
				  const struct sley_request *request)
{
	CHECK(self != NULL);
	CHECK(request != NULL);
	atomic_fetch_add(&probe_counts.scheduled, 1);
	return probe_answer;
}

static const struct sley_method methods[NR_PROBES] = {
	[PROBE_ECHO] = { .name = "echo", .run = echo },
	[PROBE_WHERE] = { .name = "where", .run = tell_where },
	[PROBE_WAIT] = { .name = "wait", .run = wait_for },
	[PROBE_FAIL] = { .name = "fail", .run = fail },
	[PROBE_ID] = { .name = "id", .run = tell_id, .combine = append },
	[PROBE_SHORT] = { .name = "short",
			  .run = tell_where,
			  .flags = SLEY_METHOD_SHORT },
	[PROBE_HOLD] = { .name = "hold", .run = hold },
	[PROBE_COUNT] = { .name = "count", .run = count },
	[PROBE_NETWORK] = { .name = "network",
			    .run = echo,
			    .flags = SLEY_METHOD_NETWORK },
	[PROBE_GPU] = { .name = "gpu", .run = echo, .flags = SLEY_METHOD_GPU },
	[PROBE_SPIN] = { .name = "spin", .run = spin },
	[PROBE_SIZED] = { .name = "sized", .run = spin, .io_size = one_mib },
};

const struct sley_module probe_module = {
	SLEY_MODULE_HEAD("probe"), .version = 1,     .methods = methods,
	.nr_methods = NR_PROBES,   .create = create, .destroy = destroy,
	.schedule = schedule,
};
