/* SPDX-License-Identifier: MIT */
/*
 * fragile.c - the module of fragile.h.
 */
#include "conformance/route/fragile.h"

#include "subprocess/call_ring.h"

struct shared *shared;
char lines[16384];

void take_line(void *self, const char *line)
{
	size_t length = strlen(lines);

	(void)self;
	CHECK_LT(length + strlen(line) + 1, sizeof(lines));
	snprintf(lines + length, sizeof(lines) - length, "%s\n", line);
}

struct state {
	uint32_t id;
	int count;
	char pool[8];
};

static int die(int way)
{
	switch (way) {
	case SEGV:
		signal(SIGSEGV, SIG_DFL);
		raise(SIGSEGV);
		break;
	case ABORT:
		abort();
	case EXIT:
		exit(7);
	case KILL:
		kill(getpid(), SIGKILL);
		pause();
		break;
	default:
		break;
	}
	return 0;
}

static int create(void **self, const struct sley_container_info *info)
{
	struct state *state = calloc(1, sizeof(*state));

	CHECK(state != NULL);
	if (atomic_load(&shared->refuses_in) == (int)info->id + 1)
		return -ENODEV;
	atomic_fetch_add(&shared->created, 1);
	if (atomic_load(&shared->dies_in) == (int)info->id + 1)
		die(atomic_load(&shared->way));
	state->id = info->id;
	snprintf(state->pool, sizeof(state->pool), "%s", info->pool);
	if (info->params_size >= sizeof(int))
		memcpy(&state->count, info->params, sizeof(int));
	*self = state;
	return 0;
}

static void destroy(void *self)
{
	test_nap_ms((unsigned int)atomic_load(&shared->end_ms));
	atomic_fetch_add(&shared->destroyed, 1);
	die(atomic_load(&shared->dies_at_end) ? KILL : LIVE);
	free(self);
}

static int echo(void *self, struct sley_request *request)
{
	size_t size;
	const void *in = sley_request_in(request, &size);

	(void)self;
	atomic_fetch_add(&shared->begun, 1);
	return sley_request_answer(request, in, size);
}

static int say_pids(void *self, struct sley_request *request)
{
	pid_t pids[] = { getpid(), getppid() };

	(void)self;
	return sley_request_answer(request, pids, sizeof(pids));
}

static int count(void *self, struct sley_request *request)
{
	struct state *state = self;

	(void)request;
	CHECK_EQ(sley_container_id(sley_request_container(request)), state->id);
	return ++state->count;
}

static int int_of(const struct sley_request *request)
{
	size_t size;
	const int *in = sley_request_in(request, &size);

	return size == sizeof(*in) ? *in : 0;
}

static int die_as_told(void *self, struct sley_request *request)
{
	(void)self;
	return die(int_of(request));
}

static int hold(void *self, struct sley_request *request)
{
	(void)self;
	atomic_fetch_add(&shared->begun, 1);
	while (!atomic_load(&shared->gate))
		usleep(1000);
	return die(int_of(request));
}

static int nap(void *self, struct sley_request *request)
{
	(void)self;
	(void)request;
	return sley_sleep(60 * SLEY_SEC);
}

static int answer(void *self, struct sley_request *request)
{
	static const char bytes[8192];

	(void)self;
	return sley_request_answer(request, bytes, (size_t)int_of(request));
}

static int say_id(void *self, struct sley_request *request)
{
	const struct state *state = self;
	uint64_t id = state->id;

	die(int_of(request) == (int)state->id + 1 ? ABORT : LIVE);
	return sley_request_answer(request, &id, sizeof(id));
}

static int append(void *into, size_t room, size_t *size, const void *from,
		  size_t from_size)
{
	CHECK_EQ(room, sizeof(uint64_t));
	CHECK_EQ(*size, sizeof(uint64_t));
	CHECK_EQ(from_size, sizeof(uint64_t));
	*(uint64_t *)into = 10 * *(uint64_t *)into + *(const uint64_t *)from;
	return 0;
}

static int call_on(void *self, struct sley_request *request)
{
	struct sley_pool *pool =
		sley_container_pool(sley_request_container(request));
	const struct state *state = self;

	CHECK_STR(sley_pool_name(pool), state->pool);
	CHECK(sley_current() != NULL);
	return sley_pool_call(
		pool,
		SLEY_REQUEST(.method = COUNT, .parent = request,
			     .query = sley_query_id((uint64_t)int_of(request))),
		NULL);
}

/* The ring that the program shares with this process; the IN part lies in it. */
static char *find_ring(const char *in, size_t *size)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char *from = NULL, *to = NULL, line[512];

	CHECK(maps != NULL);
	while (fgets(line, sizeof(line), maps) && (in < from || in >= to))
		CHECK_EQ(sscanf(line, "%p-%p", (void **)&from, (void **)&to),
			 2);
	fclose(maps);
	CHECK(in >= from && in < to);
	*size = (size_t)(to - from);
	return from;
}

/* Random bytes, as the number says; without a number each word that counts. */
static int scribble(void *self, struct sley_request *request)
{
	size_t size;
	char *ring = find_ring(sley_request_in(request, &size), &size);
	unsigned int seed = (unsigned int)int_of(request);
	unsigned int nr = seed % 4096;

	(void)self;
	signal(SIGSEGV, SIG_DFL); /* without the words of a sanitizer */
	if (!seed)
		memset(ring + CACHE_LINE, 0xa5 | COUNT_WORD_WATCHED,
		       sizeof(struct call_ring) - CACHE_LINE);
	for (unsigned int i = 0; i < nr; i++) {
		/* The words that count are few: half of the bytes go there. */
		size_t among = i % 2 ? size : sizeof(struct call_ring) + 64;

		ring[(size_t)rand_r(&seed) % among] = (char)rand_r(&seed);
	}
	return 0;
}

static int sum(void *self, struct sley_request *request)
{
	size_t size;
	const unsigned char *in = sley_request_in(request, &size);

	(void)self;
	return sum_of(in, size);
}

static int answer_pattern(void *self, struct sley_request *request)
{
	const struct pattern *pattern;
	size_t size, room;
	unsigned char *out = sley_request_out(request, &room);

	(void)self;
	pattern = sley_request_in(request, &size);
	CHECK_EQ(size, sizeof(*pattern));
	CHECK_LE(pattern->size, room);
	draw(out, pattern->size, pattern->seed);
	return sley_request_answer(request, out, pattern->size);
}

static int flood(void *self, struct sley_request *request)
{
	size_t room;
	void *out = sley_request_out(request, &room);
	int code = hold(self, request);

	memset(out, 0xaa, room);
	return code;
}

/* ---- crates ------------------------------------------------------------------------- */

/* The next descriptor from @fd on that is a file of crates; or -1. */
static int next_crates(int fd)
{
	char path[64], name[64];

	for (; fd < 1024; fd++) {
		ssize_t length;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		length = readlink(path, name, sizeof(name) - 1);
		if (length < 0)
			continue;
		name[length] = '\0';
		if (strstr(name, "sley-crates"))
			return fd;
	}
	return -1;
}

size_t crate_bytes(void)
{
	size_t bytes = 0;

	for (int fd = 0; (fd = next_crates(fd)) >= 0; fd++) {
		struct stat status;

		CHECK_EQ(fstat(fd, &status), 0);
		bytes += (size_t)status.st_blocks * 512;
	}
	return bytes;
}

static int spoil_crates(void *self, struct sley_request *request)
{
	static char bytes[8 << 20];
	int fd = next_crates(0);

	(void)self;
	atomic_fetch_add(&shared->begun, 1);
	while (!atomic_load(&shared->gate))
		usleep(1000);
	memset(bytes, 0xaa, sizeof(bytes));
	CHECK_EQ(pwrite(fd, bytes, sizeof(bytes), 0), (ssize_t)sizeof(bytes));
	return die(int_of(request));
}

static struct sley_query schedule(void *self,
				  const struct sley_request *request)
{
	CHECK(self == NULL);
	return sley_query_hash((uint64_t)int_of(request));
}

static uint64_t work_remaining(void *self)
{
	CHECK(self != NULL);
	return atomic_fetch_sub(&shared->work, 1) > 0;
}

static int monitor(void *self, const char *query, char *text, size_t size)
{
	const struct state *state = self;

	if (strcmp(query, "long") == 0)
		return snprintf(text, size, "\"%10000d\"", state->count);
	if (strcmp(query, "count") != 0)
		return -ENOENT;
	return snprintf(text, size, "{\"count\":%d}", state->count);
}

const struct sley_method fragile_methods[NR_METHODS] = {
	[ECHO] = { .name = "echo", .run = echo },
	[SAY_PIDS] = { .name = "say_pids", .run = say_pids },
	[COUNT] = { .name = "count", .run = count },
	[DIE] = { .name = "die", .run = die_as_told },
	/* In an isolated pool no method is short. */
	[HOLD] = { .name = "hold", .run = hold, .flags = SLEY_METHOD_SHORT },
	[NAP] = { .name = "nap", .run = nap },
	[ANSWER] = { .name = "answer", .run = answer },
	[SAY_ID] = { .name = "say_id", .run = say_id, .combine = append },
	[CALL] = { .name = "call", .run = call_on },
	[SCRIBBLE] = { .name = "scribble", .run = scribble },
	[SUM] = { .name = "sum", .run = sum },
	[PATTERN] = { .name = "pattern", .run = answer_pattern },
	[FLOOD] = { .name = "flood", .run = flood },
	[SPOIL] = { .name = "spoil", .run = spoil_crates },
};

const struct sley_module fragile_module = {
	SLEY_MODULE_HEAD("fragile"),
	.version = 3,
	.methods = fragile_methods,
	.nr_methods = NR_METHODS,
	.create = create,
	.destroy = destroy,
	.schedule = schedule,
	.work_remaining = work_remaining,
	.monitor = monitor,
	.flags = SLEY_MODULE_STATELESS,
};
