/* SPDX-License-Identifier: MIT */
/*
 * file_edges.c - <sley/file_module.h>: requests that are refused, limits, and sizes.
 */
#include <sys/syscall.h>

#include "conformance/modules/file_scene.h"
#include "hostile/filter.h"

/* ---- bad requests ---------------------------------------------------------------------- */

/* Each size but the right size, all bytes @byte. */
static void send_sizes(struct sley_pool *pool, char byte)
{
	static const struct {
		uint32_t method;
		size_t size; /* that is right; WRITE: the least */
	} methods[] = {
		{ SLEY_FILE_OPEN, sizeof(struct sley_file_open) },
		{ SLEY_FILE_READ, sizeof(struct sley_file_at) },
		{ SLEY_FILE_WRITE, sizeof(struct sley_file_at) },
		{ SLEY_FILE_STAT, sizeof(struct sley_file_number) },
		{ SLEY_FILE_SYNC, sizeof(struct sley_file_number) },
		{ SLEY_FILE_CLOSE, sizeof(struct sley_file_number) },
		{ SLEY_FILE_UNLINK, sizeof(struct sley_file_open) },
	};
	char bytes[1100], out[64];

	memset(bytes, byte, sizeof(bytes));
	for (size_t i = 0; i < ARRAY_SIZE(methods); i++)
		for (size_t size = 0; size <= sizeof(bytes); size++) {
			if (size == methods[i].size)
				continue;
			CHECK_EQ(sley_pool_call(
					 pool,
					 SLEY_REQUEST(.method =
							      methods[i].method,
						      .in = bytes,
						      .in_size = size,
						      .out = out,
						      .out_size = sizeof(out)),
					 NULL),
				 -EINVAL);
		}
}

TEST(requests_of_wrong_sizes_are_refused)
{
	struct scene s;

	scene_start(&s, SLEY_FILE_WRITABLE, 2);
	send_sizes(s.pool, 0);
	send_sizes(s.pool, 'x');
	CHECK_EQ(call(s.pool, SLEY_FILE_UNLINK + 1, NULL, 0, NULL, 0), -ENOSYS);
	scene_stop(&s);
}

static void send_nonsense(struct sley_pool *pool, uint64_t file)
{
	struct sley_file_open open = { .flags = SLEY_FILE_TO_READ,
				       .path = "file" };
	struct sley_file_at at = { .file = file, .size = 8 };
	struct sley_file_opened opened;
	char data[8];
	static const uint32_t flags[] = {
		0,
		SLEY_FILE_CREATE,
		SLEY_FILE_TO_READ | SLEY_FILE_CREATE,
		SLEY_FILE_TO_READ | SLEY_FILE_TRUNCATE,
		SLEY_FILE_TO_READ | SLEY_FILE_APPEND,
		SLEY_FILE_TO_WRITE | SLEY_FILE_EXCLUSIVE,
		SLEY_FILE_TO_READ | 64,
		UINT32_MAX,
	};

	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		CHECK_EQ(open_as(pool, "file", flags[i], &opened.file),
			 -EINVAL);
	CHECK_EQ(open_as(pool, "", SLEY_FILE_TO_READ, &opened.file), -EINVAL);
	CHECK_EQ(call(pool, SLEY_FILE_OPEN, &open, sizeof(open), &opened,
		      sizeof(opened) - 1),
		 -EMSGSIZE);
	open.mode = 01000;
	CHECK_EQ(call(pool, SLEY_FILE_OPEN, &open, sizeof(open), &opened,
		      sizeof(opened)),
		 -EINVAL);
	open.mode = 0;
	open.reserved = 1;
	CHECK_EQ(call(pool, SLEY_FILE_OPEN, &open, sizeof(open), &opened,
		      sizeof(opened)),
		 -EINVAL);
	open.reserved = 0;
	memset(open.path, 'x', sizeof(open.path));
	CHECK_EQ(call(pool, SLEY_FILE_OPEN, &open, sizeof(open), &opened,
		      sizeof(opened)),
		 -EINVAL);
	/* A name of the longest kind that fits is too long for the kernel. */
	open.path[SLEY_FILE_PATH_MAX] = '\0';
	CHECK_EQ(call(pool, SLEY_FILE_OPEN, &open, sizeof(open), &opened,
		      sizeof(opened)),
		 -ENAMETOOLONG);

	CHECK_EQ(call(pool, SLEY_FILE_READ, &at, sizeof(at), data, 7),
		 -EMSGSIZE);
	at.size = UINT64_MAX;
	CHECK_EQ(call(pool, SLEY_FILE_READ, &at, sizeof(at), data, 8),
		 -EMSGSIZE);
	CHECK_EQ(call(pool, SLEY_FILE_WRITE, &at, sizeof(at), data, 8),
		 -EINVAL);
	at.size = 0;
	CHECK_EQ(call(pool, SLEY_FILE_WRITE, &at, sizeof(at), data, 7),
		 -EMSGSIZE);
	at.size = 8;
	at.offset = UINT64_MAX;
	CHECK_EQ(call(pool, SLEY_FILE_READ, &at, sizeof(at), data, 8), -EINVAL);
	at.offset = INT64_MAX;
	CHECK_LE(call(pool, SLEY_FILE_READ, &at, sizeof(at), data, 8), 0);
	at.offset = 0;
	at.reserved = 1;
	CHECK_EQ(call(pool, SLEY_FILE_READ, &at, sizeof(at), data, 8), -EINVAL);
	CHECK_EQ(call(pool, SLEY_FILE_STAT, &file, sizeof(file), data, 8),
		 -EMSGSIZE);
}

/* Numbers near a good number, and in other containers. */
static void send_numbers(struct sley_pool *pool, uint64_t file)
{
	char byte;

	for (int bit = 0; bit < 64; bit++) {
		uint64_t other = file ^ 1ull << bit;
		long code = read_at(pool, other, &byte, 1, 0);

		/* Bits 16 to 31 are the container: there may be none. */
		CHECK(code == -EBADF ||
		      (bit >= 17 && bit < 32 && code == -ENXIO));
	}
	CHECK_EQ(read_at(pool, 0, &byte, 1, 0), -EBADF);
	CHECK_EQ(sley_pool_call(pool,
				SLEY_REQUEST(.method = SLEY_FILE_SYNC,
					     .query = sley_query_id(
						     1 - (file >> 16 & 1)),
					     .in = &file,
					     .in_size = sizeof(file)),
				NULL),
		 -EBADF);
	CHECK_EQ(of_file(pool, SLEY_FILE_SYNC, file), 0);
}

TEST_WORKERS(nonsense_is_refused_and_changes_nothing)
{
	uint64_t file;
	struct scene s;

	scene_start(&s, SLEY_FILE_WRITABLE, 2);
	file = open_new(s.pool, "file");
	send_nonsense(s.pool, file);
	send_numbers(s.pool, file);
	CHECK_EQ(of_file(s.pool, SLEY_FILE_CLOSE, file), 0);
	CHECK_EQ(unlink_file(s.pool, "file"), 0);
	scene_stop(&s);
}

TEST(params_are_checked)
{
	struct sley_file_params params;
	struct sley_pool *pool = NULL;
	struct scene s;

	scene_begin(&s, NULL);
	params = params_of("", 0);
	CHECK_EQ(open_pool(&s, &params, 1, &pool), -EINVAL);
	params = params_of("/no/such/folder", 0);
	CHECK_EQ(open_pool(&s, &params, 1, &pool), -ENOENT);
	params = params_of("/etc/passwd", 0);
	CHECK_EQ(open_pool(&s, &params, 1, &pool), -ENOTDIR);
	params = params_of(s.folder.path, 4);
	CHECK_EQ(open_pool(&s, &params, 1, &pool), -EINVAL);
	params = params_of(s.folder.path, 0);
	params.max_open = SLEY_FILE_OPEN_MAX + 1;
	CHECK_EQ(open_pool(&s, &params, 1, &pool), -EINVAL);
	params.max_open = 0;
	params.reserved[3] = 1;
	CHECK_EQ(open_pool(&s, &params, 1, &pool), -E2BIG);
	params.reserved[3] = 0;
	params.size = 0;
	CHECK_EQ(open_pool(&s, &params, 1, &pool), -EINVAL);
	params.size = sizeof(params) + 1; /* more than there is */
	CHECK_EQ(open_pool(&s, &params, 1, &pool), -EINVAL);
	params.size = sizeof(params);
	memset(params.root, '/', sizeof(params.root));
	CHECK_EQ(open_pool(&s, &params, 1, &pool), -EINVAL);
	CHECK_EQ(sley_pool_open(s.router, &pool, "files",
				SLEY_POOL_OPTIONS(.module = "file")),
		 -EINVAL);
	params = params_of(s.folder.path, 0);
	params.max_open = SLEY_FILE_OPEN_MAX;
	CHECK_EQ(open_pool(&s, &params, 1, &s.pool), 0);
	scene_stop(&s);
}

/* Opens "files" with params that are a text. */
static int open_by_text(struct scene *s, const char *text)
{
	return sley_pool_open(s->router, &s->pool, "files",
			      SLEY_POOL_OPTIONS(.module = "file",
						.params = text,
						.params_size = strlen(text)));
}

static void check_texts(struct scene *s)
{
	char text[1200];

	CHECK_EQ(open_by_text(s, "writable=true\n"), -EINVAL);
	CHECK_EQ(open_by_text(s, "root=\n"), -EINVAL);
	CHECK_EQ(open_by_text(s, "root=/no/such/folder\n"), -ENOENT);
	CHECK_EQ(open_by_text(s, "root=/tmp\nwriteable=true\n"), -EINVAL);
	CHECK_EQ(open_by_text(s, "root=/tmp\nwritable=perhaps\n"), -EINVAL);
	CHECK_EQ(open_by_text(s, "root=/tmp\nmax_open=65537\n"), -ERANGE);
	CHECK_EQ(open_by_text(s, "root=/tmp\nmax_open=-1\n"), -EINVAL);
	snprintf(text, sizeof(text), "root=%01000d\n", 0);
	CHECK_EQ(open_by_text(s, text), -ENAMETOOLONG);
	CHECK_EQ(sley_pool_open(s->router, &s->pool, "files",
				SLEY_POOL_OPTIONS(.module = "file",
						  .params = "root=/tmp\0x",
						  .params_size = 11)),
		 -EINVAL);
}

TEST_WORKERS(params_may_be_a_text)
{
	char text[600];
	uint64_t file, other;
	struct scene s;

	scene_begin(&s, NULL);
	check_texts(&s);
	snprintf(text, sizeof(text), "root=%s\nwritable=yes\nmax_open=1\n",
		 s.folder.path);
	CHECK_EQ(open_by_text(&s, text), 0);
	file = open_new(s.pool, "file"); /* which makes it */
	CHECK_EQ(open_as(s.pool, "file", SLEY_FILE_TO_READ, &other), -EMFILE);
	CHECK_EQ(of_file(s.pool, SLEY_FILE_CLOSE, file), 0);
	CHECK_EQ(unlink_file(s.pool, "file"), 0);
	CHECK_EQ(sley_pool_destroy(s.pool), 0);
	sley_pool_close(s.pool);
	/* What is not said is not allowed. */
	snprintf(text, sizeof(text), "root=%s\ndevices=no\n", s.folder.path);
	CHECK_EQ(open_by_text(&s, text), 0);
	CHECK_EQ(unlink_file(s.pool, "file"), -EROFS);
	scene_stop(&s);
}

/* ---- limits ---------------------------------------------------------------------------- */

static void open_too_many(void *arg)
{
	struct scene *s = arg;
	uint64_t file[4], again;

	file[0] = open_new(s->pool, "file");
	for (int i = 1; i < 3; i++)
		CHECK_EQ(open_as(s->pool, "file", SLEY_FILE_TO_READ, &file[i]),
			 0);
	CHECK_EQ(open_as(s->pool, "file", SLEY_FILE_TO_READ, &file[3]),
		 -EMFILE);
	CHECK_EQ(of_file(s->pool, SLEY_FILE_CLOSE, file[1]), 0);
	CHECK_EQ(open_as(s->pool, "file", SLEY_FILE_TO_READ, &again), 0);
	/* The place is the same, and the number is not. */
	CHECK_EQ(again & UINT32_MAX, file[1] & UINT32_MAX);
	CHECK_NE(again, file[1]);
	CHECK_EQ(of_file(s->pool, SLEY_FILE_SYNC, file[1]), -EBADF);
	CHECK_EQ(of_file(s->pool, SLEY_FILE_CLOSE, file[1]), -EBADF);
	/* An open that fails takes no place. */
	CHECK_EQ(of_file(s->pool, SLEY_FILE_CLOSE, again), 0);
	for (int i = 0; i < 5; i++)
		CHECK_EQ(open_as(s->pool, "none", SLEY_FILE_TO_READ, &again),
			 -ENOENT);
	CHECK_EQ(open_as(s->pool, "file", SLEY_FILE_TO_READ, &again), 0);
	CHECK_EQ(of_file(s->pool, SLEY_FILE_CLOSE, again), 0);
	CHECK_EQ(of_file(s->pool, SLEY_FILE_CLOSE, file[0]), 0);
	CHECK_EQ(of_file(s->pool, SLEY_FILE_CLOSE, file[2]), 0);
	CHECK_EQ(unlink_file(s->pool, "file"), 0);
}

TEST_WORKERS(a_container_has_so_many_files_at_most)
{
	struct sley_file_params params;
	struct scene s;

	scene_begin(&s, NULL);
	params = params_of(s.folder.path, SLEY_FILE_WRITABLE);
	params.max_open = 3;
	CHECK_EQ(open_pool(&s, &params, 1, &s.pool), 0);
	run_both(open_too_many, &s);
	scene_stop(&s);
}

TEST_WORKERS(files_that_are_left_open_are_closed_with_the_pool)
{
	uint64_t file;
	char byte;
	struct scene s;

	/* The harness looks for descriptors that are left. */
	scene_start(&s, SLEY_FILE_WRITABLE, 3);
	file = open_new(s.pool, "a");
	(void)open_new(s.pool, "b");
	(void)open_new(s.pool, "c");
	CHECK_EQ(sley_pool_destroy(s.pool), 0);
	CHECK_EQ(read_at(s.pool, file, &byte, 1, 0), -ENOENT);
	CHECK_EQ(unlinkat(s.folder.fd, "a", 0), 0);
	CHECK_EQ(unlinkat(s.folder.fd, "b", 0), 0);
	CHECK_EQ(unlinkat(s.folder.fd, "c", 0), 0);
	scene_stop(&s);
}

/* ---- sizes ----------------------------------------------------------------------------- */

static atomic_ullong told_size;

static uint32_t note_size(void *self, const struct sley_route *route)
{
	(void)self;
	atomic_store(&told_size, sley_route_io_size(route));
	return SLEY_NO_WORKER;
}

static const struct sley_policy noting = {
	SLEY_POLICY_HEAD("noting"),
	.runtime_map = note_size,
};

TEST_WORKERS(the_size_of_a_request_is_its_own)
{
	struct sley_file_params params;
	char data[WRITE_MAX] = "";
	uint64_t file;
	struct scene s;

	scene_begin(&s, &noting);
	params = params_of(s.folder.path, SLEY_FILE_WRITABLE);
	CHECK_EQ(open_pool(&s, &params, 2, &s.pool), 0);
	file = open_new(s.pool, "file");
	CHECK_EQ(atomic_load(&told_size), 0);
	CHECK_EQ(write_at(s.pool, file, data, 100, 0), 100);
	CHECK_EQ(atomic_load(&told_size), 100);
	CHECK_EQ(write_at(s.pool, file, data, WRITE_MAX, 0), WRITE_MAX);
	CHECK_EQ(atomic_load(&told_size), WRITE_MAX);
	CHECK_EQ(read_at(s.pool, file, data, 7, 0), 7);
	CHECK_EQ(atomic_load(&told_size), 7);
	CHECK_EQ(read_at(s.pool, file, data, 5000, 0), 5000);
	CHECK_EQ(atomic_load(&told_size), 5000);
	/* Metadata moves nothing. */
	CHECK_EQ(of_file(s.pool, SLEY_FILE_SYNC, file), 0);
	CHECK_EQ(atomic_load(&told_size), 0);
	/* A hint that cannot be read is none. */
	CHECK_EQ(call(s.pool, SLEY_FILE_READ, &file, sizeof(file), NULL, 0),
		 -EINVAL);
	CHECK_EQ(call(s.pool, SLEY_FILE_WRITE, &file, sizeof(file), NULL, 0),
		 -EINVAL);
	CHECK_EQ(atomic_load(&told_size), 0);
	CHECK_EQ(of_file(s.pool, SLEY_FILE_CLOSE, file), 0);
	CHECK_EQ(unlink_file(s.pool, "file"), 0);
	scene_stop(&s);
}

/* ---- without openat2(2) ---------------------------------------------------------------- */

TEST(without_a_kernel_that_keeps_paths_inside_there_is_no_pool)
{
	struct sley_file_params params;
	struct sley_pool *pool = NULL;
	struct scene s;

	scene_begin(&s, NULL);
	params = params_of(s.folder.path, 0);
	if (filter_forbid(SYS_openat2, ENOSYS))
		test_skip("no filters here");
	CHECK_EQ(open_pool(&s, &params, 2, &pool), -ENOSYS);
	CHECK_EQ(sley_io_open_beneath(s.folder.fd, ".", O_RDONLY, 0), -ENOSYS);
	scene_stop(&s);
}
