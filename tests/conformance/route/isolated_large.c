/* SPDX-License-Identifier: MIT */
/*
 * isolated_large.c - requests to isolated containers that fit no slot of the ring: of all
 * sizes, many at a time, and with all that can go wrong on the way.
 */
#include "conformance/route/fragile.h"

#include <stdlib.h>
#include <sys/resource.h>

#include "subprocess/crate.h"

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)
#define BEHIND 64 /* bytes after OUT that must stay */

static const size_t sizes[] = { 0, 1, 4096, 4097, MIB, MIB + 1 };

static unsigned char *bytes_of(size_t size)
{
	unsigned char *bytes = malloc(size + BEHIND);

	CHECK(bytes != NULL);
	memset(bytes, 0xee, size + BEHIND);
	return bytes;
}

static unsigned char *drawn(size_t size, uint32_t seed)
{
	unsigned char *bytes = bytes_of(size);

	draw(bytes, size, seed);
	return bytes;
}

static void check_behind(const unsigned char *bytes, size_t size)
{
	for (size_t i = 0; i < BEHIND; i++)
		CHECK_EQ(bytes[size + i], 0xee);
}

static void check_untouched(const unsigned char *bytes, size_t size)
{
	unsigned char *fresh = bytes_of(size);

	CHECK_EQ(memcmp(bytes, fresh, size), 0);
	free(fresh);
}

/* Whatever happened: no crate is left behind. */
static void end_clean(struct scene *s)
{
	end(s);
	CHECK_EQ(crate_bytes(), 0);
	CHECK_EQ(mem_allocated(&sley__program_mem), 0);
}

static struct sley_request_spec with(uint32_t method, const void *in,
				     size_t in_size, void *out, size_t room)
{
	return *SLEY_REQUEST(.method = method, .query = sley_query_id(0),
			     .in = in, .in_size = in_size, .out = out,
			     .out_size = room);
}

/* ---- there and back -------------------------------------------------------------------- */

static void send_in(struct scene *s, size_t size)
{
	unsigned char *in = drawn(size, 1);
	struct sley_request_spec spec =
		with(SUM, size ? in : NULL, size, NULL, 0);

	CHECK_EQ(sley_pool_call(s->pool, &spec, NULL), sum_of(in, size));
	free(in);
}

/* An answer of @size bytes, in so much room. */
static void get_out(struct scene *s, size_t size, size_t room)
{
	const struct pattern pattern = { .seed = 2, .size = size };
	unsigned char *out = bytes_of(room), *expected = drawn(size, 2);
	struct sley_request_spec spec =
		with(PATTERN, &pattern, sizeof(pattern), out, room);
	size_t got = 77;

	CHECK_EQ(sley_pool_call(s->pool, &spec, &got), 0);
	CHECK_EQ(got, size);
	CHECK_EQ(memcmp(out, expected, size), 0);
	check_behind(out, room);
	free(out);
	free(expected);
}

static void echo(struct scene *s, size_t size, size_t room, int code)
{
	unsigned char *in = drawn(size, 3), *out = bytes_of(room);
	struct sley_request_spec spec =
		with(ECHO, size ? in : NULL, size, room ? out : NULL, room);
	size_t got = 77;

	CHECK_EQ(sley_pool_call(s->pool, &spec, &got), code);
	CHECK_EQ(got, code ? 0 : size);
	CHECK_EQ(memcmp(in, out, got), 0);
	check_behind(out, room);
	free(in);
	free(out);
}

static void try_size(struct scene *s, size_t size)
{
	send_in(s, size);
	get_out(s, size, size ? size : 1);
	echo(s, size, size, 0);
	echo(s, size, size + 5000, 0);
}

TEST_WORKERS(requests_of_all_sizes_go_there_and_back)
{
	struct scene s;

	begin(&s, 1);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		try_size(&s, sizes[i]);
	end_clean(&s);
}

TEST(requests_of_sixteen_mebibytes_go_there_and_back)
{
	struct scene s;

	begin(&s, 1);
	for (int i = 0; i < 2; i++)
		try_size(&s, 16 * MIB);
	end_clean(&s);
}

TEST_WORKERS(an_answer_that_does_not_fit_is_an_error_and_is_not_cut)
{
	struct scene s;

	begin(&s, 1);
	echo(&s, 100, 99, -EMSGSIZE);
	echo(&s, 4097, 4096, -EMSGSIZE);
	echo(&s, MIB, MIB - 1, -EMSGSIZE);
	echo(&s, MIB, 0, -EMSGSIZE);
	echo(&s, MIB, MIB, 0);
	end_clean(&s);
}

/* Room costs nothing until it is used. */
TEST(much_room_for_a_short_answer_takes_no_memory)
{
	const size_t room = (size_t)1 << 30;
	void *out = mmap(NULL, room, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct sley_request_spec spec = with(ECHO, "abc", 3, out, room);
	struct scene s;
	size_t got;

	CHECK(out != MAP_FAILED);
	begin(&s, 1);
	for (int i = 0; i < 10; i++) {
		CHECK_EQ(sley_pool_call(s.pool, &spec, &got), 0);
		CHECK_EQ(got, 3);
		CHECK_EQ(memcmp(out, "abc", 3), 0);
	}
	CHECK_LE(crate_bytes(), 64 * KIB);
	end_clean(&s);
	munmap(out, room);
}

TEST(a_long_text_of_a_monitor_comes_as_a_whole)
{
	char *text = malloc(20000);
	struct scene s;

	begin(&s, 1);
	CHECK_EQ(s.pool->module->monitor(s.pool->container[0].self, "long",
					 text, 20000),
		 10002);
	CHECK_EQ(strlen(text), 10002);
	CHECK_EQ(text[10001], '"');
	CHECK_EQ(s.pool->module->monitor(s.pool->container[0].self, "long",
					 text, 5000),
		 10002);
	CHECK_EQ(strlen(text), 4999);
	end_clean(&s);
	free(text);
}

/* ---- many at a time --------------------------------------------------------------------- */

struct many {
	struct scene *s;
	struct sley_task task;
	uint32_t seed;
};

static void echo_some(void *arg)
{
	struct many *many = arg;

	for (uint32_t i = 0; i < 6; i++) {
		size_t size = 1 + (many->seed * 7919 + i * 104729) % (MIB / 2);
		unsigned char *in = drawn(size, many->seed + i);
		unsigned char *out = bytes_of(size);
		struct sley_request_spec spec = with(ECHO, in, size, out, size);
		size_t got;

		spec.query = sley_query_id(many->seed % 2);
		CHECK_EQ(sley_pool_call(many->s->pool, &spec, &got), 0);
		CHECK_EQ(got, size);
		CHECK_EQ(memcmp(in, out, size), 0);
		check_behind(out, size);
		free(in);
		free(out);
	}
}

static void *echo_on_thread(void *arg)
{
	echo_some(arg);
	return NULL;
}

/* More at a time than the ring has slots. */
TEST_WORKERS(many_large_requests_at_a_time_keep_their_bytes)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct many many[44];
	pthread_t thread[4];
	uint32_t nr_threads;
	struct scene s;

	begin(&s, 2);
	nr_threads = is_single() ? 0 : 4; /* no other threads, then */
	for (uint32_t i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = (struct many){ .s = &s, .seed = i };
	for (uint32_t i = 0; i < nr_threads; i++)
		thread[i] = test_thread(echo_on_thread, &many[i]);
	for (uint32_t i = nr_threads; i < ARRAY_SIZE(many); i++)
		sley_spawn(&group, &many[i].task, echo_some, &many[i]);
	sley_join(&group);
	for (uint32_t i = 0; i < nr_threads; i++)
		pthread_join(thread[i], NULL);
	end_clean(&s);
}

TEST(memory_that_large_requests_leave_behind_is_bounded)
{
	struct scene s;

	begin(&s, 1);
	for (int i = 0; i < 3; i++)
		echo(&s, 40 * MIB, 40 * MIB, 0);
	CHECK_LE(crate_bytes(), CRATES_KEPT);
	CHECK_GE(crate_bytes(), CRATES_KEPT / 2);
	end_clean(&s);
}

/* ---- given up --------------------------------------------------------------------------- */

/* A request whose method has begun and goes on, but for which nobody waits any more. */
static void give_up_flood(struct scene *s, unsigned char *out)
{
	struct sley_request_spec spec = with(FLOOD, NULL, 0, out, MIB);
	struct sley_request request;

	CHECK_EQ(sley_submit(s->pool, &request, &spec), 0);
	await_begun(1);
	sley_request_cancel(&request);
	CHECK_EQ(await(&request), -ECANCELED);
}

/*
 * The method of a request that was given up still writes to its OUT part.  Requests that
 * come meanwhile must not have the same memory.
 */
TEST_WORKERS(what_was_given_up_writes_to_no_memory_of_others)
{
	unsigned char *in = drawn(MIB, 5), *out = bytes_of(MIB);
	unsigned char *late = bytes_of(MIB);
	struct sley_request_spec spec;
	struct sley_request request;
	struct scene s;

	begin(&s, 1);
	give_up_flood(&s, late);
	spec = with(ECHO, in, MIB, out, MIB);
	CHECK_EQ(sley_submit(s.pool, &request, &spec), 0);
	/* Its IN part is in the memory that is shared. */
	while (crate_bytes() < MIB)
		CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
	atomic_store(&shared->gate, 1);
	CHECK_EQ(await(&request), 0);
	CHECK_EQ(memcmp(in, out, MIB), 0);
	check_untouched(late, MIB);
	/* All of it can be had again. */
	for (int i = 0; i < 40; i++)
		echo(&s, MIB, MIB, 0);
	CHECK_LE(crate_bytes(), 4 * MIB);
	end_clean(&s);
	free(in);
	free(out);
	free(late);
}

TEST_WORKERS(large_requests_that_wait_are_cancelled_at_once)
{
	unsigned char *in = drawn(MIB, 5), *out = bytes_of(MIB);
	struct sley_request_spec late = with(ECHO, in, MIB, out, MIB);
	struct sley_request held, request[20];
	struct scene s;

	begin(&s, 1);
	submit(&s, &held, HOLD, 0, NULL);
	await_begun(1);
	late.deadline_ns = sley_after(20 * SLEY_MSEC);
	CHECK_EQ(sley_pool_call(s.pool, &late, NULL), -ETIMEDOUT);
	CHECK_GE(sley_now(), late.deadline_ns);
	for (int i = 0; i < 20; i++) {
		struct sley_request_spec spec = with(ECHO, in, MIB, out, MIB);

		CHECK_EQ(sley_submit(s.pool, &request[i], &spec), 0);
	}
	while (crate_bytes() < 20 * MIB)
		CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
	for (int i = 0; i < 20; i++)
		sley_request_cancel(&request[i]);
	for (int i = 0; i < 20; i++)
		CHECK_EQ(await(&request[i]), -ECANCELED);
	memset(out, 0xee, MIB);
	atomic_store(&shared->gate, 1);
	CHECK_EQ(await(&held), 0);
	CHECK_EQ(code_of(&s, COUNT, 0, 0), 1);
	check_untouched(out, MIB);
	end_clean(&s);
	free(in);
	free(out);
}

/* ---- deaths ------------------------------------------------------------------------------ */

/* A request that dies when the gate opens, and large ones behind it. */
struct behind {
	struct sley_request first, request[18];
	unsigned char *in[18], *out[18];
	size_t size;
};

static void line_up(struct scene *s, struct behind *b, uint32_t method,
		    const int *way)
{
	size_t before;

	b->size = 300 * KIB;
	submit(s, &b->first, method, 0, way);
	await_begun(1);
	before = crate_bytes();
	for (uint32_t i = 0; i < 18; i++) {
		struct sley_request_spec spec;

		b->in[i] = drawn(b->size, i);
		b->out[i] = bytes_of(b->size);
		spec = with(ECHO, b->in[i], b->size, b->out[i], b->size);
		CHECK_EQ(sley_submit(s->pool, &b->request[i], &spec), 0);
	}
	while (crate_bytes() < before + 18 * b->size)
		CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
	atomic_store(&shared->gate, 1);
}

static void check_all(struct behind *b, int code)
{
	for (uint32_t i = 0; i < 18; i++) {
		CHECK_EQ(await(&b->request[i]), code);
		CHECK_EQ(memcmp(b->in[i], b->out[i], b->size) == 0, code == 0);
		check_behind(b->out[i], b->size);
		free(b->in[i]);
		free(b->out[i]);
	}
}

TEST_WORKERS(rc15_a_crash_fails_its_large_request_and_no_other)
{
	unsigned char *in = drawn(MIB, 6), *out = bytes_of(MIB);
	struct sley_request_spec spec;
	struct sley_request held;
	struct scene s;
	int way = KILL;

	begin(&s, 2);
	memcpy(in, &way, sizeof(way));
	submit(&s, &held, HOLD, 1, NULL);
	await_begun(1);
	for (int i = 0; i < 3; i++) {
		atomic_store(&shared->gate, 1);
		/* The IN part is not an int: it lives on; then it dies. */
		spec = with(FLOOD, in, MIB, out, MIB);
		CHECK_EQ(sley_pool_call(s.pool, &spec, NULL), 0);
		spec = with(SPOIL, &way, sizeof(way), out, MIB);
		CHECK_EQ(sley_pool_call(s.pool, &spec, NULL), SLEY_ECHILD);
		echo(&s, MIB, MIB, 0);
	}
	CHECK_EQ(await(&held), 0);
	end_clean(&s);
	free(in);
	free(out);
}

/* In the ring and in the queue, whatever the dead one has written to their memory. */
TEST_WORKERS(rc15_large_requests_that_had_not_begun_run_in_the_next_life)
{
	struct behind b;
	struct scene s;
	int way = KILL;

	begin(&s, 1);
	line_up(&s, &b, SPOIL, &way);
	CHECK_EQ(await(&b.first), SLEY_ECHILD);
	check_all(&b, 0);
	CHECK_EQ(atomic_load(&shared->created), 2);
	end_clean(&s);
}

TEST_WORKERS(rc15_large_requests_to_a_container_that_is_down_fail)
{
	struct behind b;
	struct scene s;
	int way = KILL;

	begin_with(&s,
		   *SLEY_POOL_OPTIONS(.max_restarts = SLEY_SUBPROCESS_NEVER));
	line_up(&s, &b, HOLD, &way);
	CHECK_EQ(await(&b.first), SLEY_ECHILD);
	check_all(&b, SLEY_ECHILD);
	echo(&s, MIB, MIB, SLEY_ECHILD);
	end_clean(&s);
}

TEST_WORKERS(rc15_a_large_request_that_takes_too_long_is_killed)
{
	unsigned char *out = bytes_of(MIB);
	struct sley_request_spec spec = with(FLOOD, NULL, 0, out, MIB);
	struct scene s;

	begin_with(&s, *SLEY_POOL_OPTIONS(.limit_ns = 500 * SLEY_MSEC));
	CHECK_EQ(sley_pool_call(s.pool, &spec, NULL), SLEY_ECHILD);
	echo(&s, MIB, MIB, 0);
	end_clean(&s);
	free(out);
}

/* Wrong bytes are in its own requests only, and the program goes on. */
TEST_WORKERS(rc15_a_subprocess_that_writes_over_crates_harms_its_own_requests)
{
	unsigned char *in = drawn(MIB, 7), *out = bytes_of(MIB);
	struct sley_request_spec spec = with(SPOIL, NULL, 0, out, MIB);
	struct sley_request request;
	struct scene s;

	begin(&s, 2);
	CHECK_EQ(sley_submit(s.pool, &request, &spec), 0);
	await_begun(1);
	spec = with(ECHO, in, MIB, out, MIB);
	spec.query = sley_query_id(1);
	for (int i = 0; i < 5; i++) {
		if (i == 2)
			atomic_store(&shared->gate, 1);
		memset(out, 0, MIB);
		CHECK_EQ(sley_pool_call(s.pool, &spec, NULL), 0);
		CHECK_EQ(memcmp(in, out, MIB), 0);
	}
	CHECK_EQ(await(&request), 0);
	check_behind(out, MIB);
	echo(&s, MIB, MIB, 0);
	end_clean(&s);
	free(in);
	free(out);
}

/* ---- the end ------------------------------------------------------------------------------ */

struct ender {
	struct scene *s;
	struct sley_task task;
	struct sley_group group;
};

static void destroy_pool(void *arg)
{
	struct ender *ender = arg;

	CHECK_EQ(sley_pool_destroy(ender->s->pool), 0);
}

TEST_WORKERS(a_pool_that_is_destroyed_while_busy_completes_large_requests)
{
	struct ender ender = { .group = SLEY_GROUP_INIT };
	struct behind b;
	struct scene s;

	begin(&s, 1);
	ender.s = &s;
	line_up(&s, &b, HOLD, NULL);
	sley_spawn(&ender.group, &ender.task, destroy_pool, &ender);
	CHECK_EQ(await(&b.first), 0);
	check_all(&b, 0);
	sley_join(&ender.group);
	CHECK_EQ(atomic_load(&shared->destroyed), 1);
	end_clean(&s);
}

/* The method that was given up still has its crate when the pool ends. */
TEST(a_pool_ends_although_a_large_request_that_was_given_up_hangs)
{
	unsigned char *out = bytes_of(MIB);
	struct scene s;

	begin(&s, 1);
	give_up_flood(&s, out);
	CHECK_EQ(sley_pool_destroy(s.pool), 0);
	end_clean(&s);
	free(out);
}

/* ---- without resources ---------------------------------------------------------------------- */

/* Descriptors are needed for the start, and not for a request. */
TEST(large_requests_need_no_descriptors)
{
	int fds[256], nr = 0;
	struct rlimit limit;
	struct scene s;

	begin(&s, 1);
	CHECK_EQ(code_of(&s, COUNT, 0, 0), 1);
	CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = 256;
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
	while ((fds[nr] = dup(0)) >= 0)
		nr++;
	CHECK_EQ(errno, EMFILE);
	CHECK_GT(nr, 0);
	echo(&s, MIB, MIB, 0);
	echo(&s, 16 * MIB, 16 * MIB, 0);
	while (nr > 0)
		close(fds[--nr]);
	end_clean(&s);
}

/* A limit on files is one on crates, and no signal. */
TEST(a_limit_on_files_is_an_error_of_the_request)
{
	struct rlimit limit;
	struct scene s;

	CHECK_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = 8 * MIB;
	CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
	begin(&s, 1);
	echo(&s, 3 * MIB, 3 * MIB, 0);
	echo(&s, 5 * MIB, 5 * MIB, -EMSGSIZE);
	echo(&s, 3 * MIB, 3 * MIB, 0);
	end_clean(&s);
}

static size_t addresses_of(pid_t pid)
{
	unsigned long pages = 0;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/statm", pid);
	file = fopen(path, "r");
	CHECK(file != NULL);
	CHECK_EQ(fscanf(file, "%lu", &pages), 1);
	fclose(file);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* The subprocess has too few addresses: its answer is an error, and it lives on. */
TEST(a_subprocess_that_cannot_map_answers_with_an_error)
{
	struct rlimit limit;
	struct scene s;
	pid_t pid;

	if (test_sanitizer())
		test_skip("a sanitizer needs all addresses");
	begin(&s, 1);
	pid = pid_of(&s, 0, false);
	CHECK_EQ(prlimit(pid, RLIMIT_AS, NULL, &limit), 0);
	limit.rlim_cur = addresses_of(pid) + 64 * MIB;
	CHECK_EQ(prlimit(pid, RLIMIT_AS, &limit, NULL), 0);
	echo(&s, 256 * MIB, 10, -ENOMEM);
	echo(&s, MIB, MIB, 0);
	CHECK_EQ(pid_of(&s, 0, false), pid);
	end_clean(&s);
}

/* Sizes that no process can have: nothing is read, and nothing wraps. */
TEST(sizes_that_cannot_be_are_errors_of_the_request)
{
	const size_t wrong[] = { SIZE_MAX, SIZE_MAX - 31, SIZE_MAX / 2,
				 (size_t)1 << 47 };
	char byte = 'x';
	struct scene s;

	begin(&s, 1);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct sley_request_spec spec =
			with(ECHO, &byte, wrong[i], NULL, 0);

		CHECK_EQ(sley_pool_call(s.pool, &spec, NULL), -EMSGSIZE);
		spec = with(ECHO, &byte, 1, &byte, wrong[i]);
		CHECK_EQ(sley_pool_call(s.pool, &spec, NULL), -EMSGSIZE);
	}
	CHECK_EQ(atomic_load(&shared->begun), 0);
	echo(&s, 1, 1, 0);
	end_clean(&s);
}
