/* SPDX-License-Identifier: MIT */
/*
 * file.c - <sley/file_module.h>: files beneath a folder, by requests.
 */
#include <sys/wait.h>

#include "conformance/modules/file_scene.h"

/* ---- contents -------------------------------------------------------------------------- */

static void write_and_read(void *arg)
{
	struct scene *s = arg;
	uint64_t file = open_new(s->pool, "file");
	char data[WRITE_MAX], back[WRITE_MAX];
	struct sley_file_number number = { file };
	struct sley_file_stat about;

	fill(data, sizeof(data), 100);
	CHECK_EQ(write_at(s->pool, file, data, sizeof(data), 100),
		 sizeof(data));
	CHECK_EQ(write_at(s->pool, file, data, 0, 0), 0);
	CHECK_EQ(read_at(s->pool, file, back, sizeof(back), 100), sizeof(back));
	check_pattern(back, sizeof(back), 100);
	CHECK_EQ(read_at(s->pool, file, back, 3, 99), 3);
	CHECK_EQ(back[0], 0);
	CHECK_EQ(back[1], pattern(100));
	CHECK_EQ(read_at(s->pool, file, back, sizeof(back), 20000), 100);
	CHECK_EQ(read_at(s->pool, file, back, sizeof(back), 20100), 0);
	CHECK_EQ(read_at(s->pool, file, back, 0, 0), 0);
	CHECK_EQ(of_file(s->pool, SLEY_FILE_SYNC, file), 0);
	CHECK_EQ(call(s->pool, SLEY_FILE_STAT, &number, sizeof(number), &about,
		      sizeof(about)),
		 0);
	CHECK_EQ(about.size, 20100);
	CHECK_EQ(about.mode, S_IFREG | 0600);
	CHECK_EQ(about.links, 1);
	CHECK_GT(about.changed_ns, 1600000000 * (int64_t)SLEY_SEC);
	CHECK_EQ(of_file(s->pool, SLEY_FILE_CLOSE, file), 0);
	CHECK_EQ(of_file(s->pool, SLEY_FILE_CLOSE, file), -EBADF);
	CHECK_EQ(read_at(s->pool, file, back, 1, 0), -EBADF);
	CHECK_EQ(unlink_file(s->pool, "file"), 0);
	CHECK_EQ(unlink_file(s->pool, "file"), -ENOENT);
}

TEST_WORKERS(bytes_are_written_and_read_at_their_offsets)
{
	check_in_scene(write_and_read, SLEY_FILE_WRITABLE, 3);
}

static void open_variously(void *arg)
{
	struct scene *s = arg;
	uint64_t file = open_new(s->pool, "file"), other = 0;
	char back[8] = "";

	CHECK_EQ(write_at(s->pool, file, "abc", 3, 0), 3);
	CHECK_EQ(open_as(s->pool, "file",
			 SLEY_FILE_TO_WRITE | SLEY_FILE_CREATE |
				 SLEY_FILE_EXCLUSIVE,
			 &other),
		 -EEXIST);
	CHECK_EQ(open_as(s->pool, "file", SLEY_FILE_TO_WRITE | SLEY_FILE_APPEND,
			 &other),
		 0);
	CHECK_EQ(write_at(s->pool, other, "de", 2, 0), 2);
	CHECK_EQ(read_at(s->pool, other, back, 1, 0), -EBADF);
	CHECK_EQ(of_file(s->pool, SLEY_FILE_CLOSE, other), 0);
	CHECK_EQ(read_at(s->pool, file, back, 8, 0), 5);
	CHECK_EQ(memcmp(back, "abcde", 5), 0);
	CHECK_EQ(open_as(s->pool, "file", SLEY_FILE_TO_READ, &other), 0);
	CHECK_EQ(write_at(s->pool, other, "x", 1, 0), -EBADF);
	CHECK_EQ(of_file(s->pool, SLEY_FILE_CLOSE, other), 0);
	CHECK_EQ(open_as(s->pool, "file",
			 SLEY_FILE_TO_WRITE | SLEY_FILE_TRUNCATE, &other),
		 0);
	CHECK_EQ(read_at(s->pool, file, back, 8, 0), 0);
	CHECK_EQ(of_file(s->pool, SLEY_FILE_CLOSE, other), 0);
	CHECK_EQ(of_file(s->pool, SLEY_FILE_CLOSE, file), 0);
	CHECK_EQ(unlink_file(s->pool, "file"), 0);
	CHECK_EQ(open_as(s->pool, "file", SLEY_FILE_TO_READ, &file), -ENOENT);
}

TEST_WORKERS(files_are_opened_as_their_flags_say)
{
	check_in_scene(open_variously, SLEY_FILE_WRITABLE, 2);
}

/* A file that is not in the page cache. */
static void read_cold(void *arg)
{
	struct scene *s = arg;
	int fd = make_file(&s->folder, "cold", 300000);
	char *data = malloc(300000);
	uint64_t file;

	CHECK(data != NULL);
	make_cold(fd);
	CHECK_EQ(close(fd), 0);
	CHECK_EQ(open_as(s->pool, "cold", SLEY_FILE_TO_READ, &file), 0);
	CHECK_EQ(read_at(s->pool, file, data, 300000, 0), 300000);
	check_pattern(data, 300000, 0);
	CHECK_EQ(of_file(s->pool, SLEY_FILE_CLOSE, file), 0);
	CHECK_EQ(unlinkat(s->folder.fd, "cold", 0), 0);
	free(data);
}

TEST_WORKERS(a_file_that_is_not_in_memory_is_read)
{
	check_in_scene(read_cold, 0, 1);
}

/* ---- the folder ------------------------------------------------------------------------ */

static void escape(void *arg)
{
	struct scene *s = arg;
	int root = s->folder.fd;
	uint64_t file;

	CHECK_EQ(mkdirat(root, "inside", 0700), 0);
	CHECK_EQ(symlinkat("..", root, "up"), 0);
	CHECK_EQ(symlinkat("/etc", root, "etc"), 0);
	CHECK_EQ(symlinkat("/etc/passwd", root, "passwd"), 0);
	CHECK_EQ(symlinkat("inside/file", root, "good"), 0);
	CHECK_EQ(symlinkat("loop", root, "loop"), 0);
	for (int i = 0; i < 2; i++) {
		uint32_t flags = i ? SLEY_FILE_TO_WRITE | SLEY_FILE_CREATE
				   : SLEY_FILE_TO_READ;
		static const char *const out[] = {
			"../x",        "inside/../../x",
			"/etc/passwd", "//etc/passwd",
			"up/x",        "etc/passwd",
			"passwd",      "inside/../up/tmp",
		};

		for (size_t j = 0; j < ARRAY_SIZE(out); j++)
			CHECK_EQ(open_as(s->pool, out[j], flags, &file),
				 -EXDEV);
		CHECK_EQ(open_as(s->pool, "loop", flags, &file), -ELOOP);
	}
	CHECK_EQ(unlink_file(s->pool, "../x"), -EXDEV);
	CHECK_EQ(unlink_file(s->pool, "/etc/passwd"), -EXDEV);
	CHECK_EQ(unlink_file(s->pool, "/passwd"), -EXDEV);
	CHECK_EQ(unlink_file(s->pool, "etc/passwd"), -EXDEV);
	CHECK_EQ(unlink_file(s->pool, "inside/../../x"), -EXDEV);
	CHECK_EQ(unlink_file(s->pool, "inside"), -EISDIR);
	CHECK_LT(unlink_file(s->pool, ".."), 0);
	CHECK_LT(unlink_file(s->pool, "inside/.."), 0);
	CHECK_EQ(unlink_file(s->pool, "inside/"), -ENOENT);
	/* Links that stay inside are followed; a link itself is removed. */
	file = open_new(s->pool, "inside/../inside/file");
	CHECK_EQ(of_file(s->pool, SLEY_FILE_CLOSE, file), 0);
	CHECK_EQ(open_as(s->pool, "good", SLEY_FILE_TO_READ, &file), 0);
	CHECK_EQ(of_file(s->pool, SLEY_FILE_CLOSE, file), 0);
	CHECK_EQ(unlink_file(s->pool, "passwd"), 0);
	CHECK_EQ(access("/etc/passwd", F_OK), 0);
	CHECK_EQ(unlink_file(s->pool, "inside/file"), 0);
	CHECK_EQ(unlinkat(root, "inside", AT_REMOVEDIR), 0);
	CHECK_EQ(unlinkat(root, "up", 0), 0);
	CHECK_EQ(unlinkat(root, "etc", 0), 0);
	CHECK_EQ(unlinkat(root, "good", 0), 0);
	CHECK_EQ(unlinkat(root, "loop", 0), 0);
}

TEST_WORKERS(no_path_leads_out_of_the_folder)
{
	check_in_scene(escape, SLEY_FILE_WRITABLE, 2);
}

static void write_nothing(void *arg)
{
	struct scene *s = arg;
	int fd = make_file(&s->folder, "file", 10);
	char data[10];
	uint64_t file;

	CHECK_EQ(close(fd), 0);
	CHECK_EQ(open_as(s->pool, "file", SLEY_FILE_TO_WRITE, &file), -EROFS);
	CHECK_EQ(open_as(s->pool, "new",
			 SLEY_FILE_TO_READ | SLEY_FILE_TO_WRITE |
				 SLEY_FILE_CREATE,
			 &file),
		 -EROFS);
	CHECK_EQ(unlink_file(s->pool, "file"), -EROFS);
	CHECK_EQ(open_as(s->pool, "file", SLEY_FILE_TO_READ, &file), 0);
	CHECK_EQ(write_at(s->pool, file, "x", 1, 0), -EBADF);
	CHECK_EQ(read_at(s->pool, file, data, 10, 0), 10);
	check_pattern(data, 10, 0);
	CHECK_EQ(of_file(s->pool, SLEY_FILE_CLOSE, file), 0);
	CHECK_EQ(unlinkat(s->folder.fd, "file", 0), 0);
}

TEST_WORKERS(a_pool_that_is_not_writable_writes_nothing)
{
	check_in_scene(write_nothing, 0, 1);
}

static void open_special(void *arg)
{
	struct scene *s = arg;
	uint64_t file;

	CHECK_EQ(mkfifoat(s->folder.fd, "fifo", 0600), 0);
	CHECK_EQ(mkdirat(s->folder.fd, "folder", 0700), 0);
	CHECK_EQ(open_as(s->pool, "fifo", SLEY_FILE_TO_READ, &file), -EPERM);
	CHECK_EQ(open_as(s->pool, "fifo", SLEY_FILE_TO_WRITE, &file), -ENXIO);
	CHECK_EQ(open_as(s->pool, "folder", SLEY_FILE_TO_READ, &file), -EISDIR);
	CHECK_EQ(open_as(s->pool, ".", SLEY_FILE_TO_READ, &file), -EISDIR);
	CHECK_EQ(open_as(s->pool, "folder", SLEY_FILE_TO_WRITE, &file),
		 -EISDIR);
	CHECK_EQ(unlinkat(s->folder.fd, "fifo", 0), 0);
	CHECK_EQ(unlinkat(s->folder.fd, "folder", AT_REMOVEDIR), 0);
}

TEST_WORKERS(only_regular_files_are_opened)
{
	check_in_scene(open_special, SLEY_FILE_WRITABLE, 1);
}

static void write_to_full(void *arg)
{
	struct scene *s = arg;
	uint64_t file;
	char byte;

	CHECK_EQ(open_as(s->pool, "full",
			 SLEY_FILE_TO_READ | SLEY_FILE_TO_WRITE, &file),
		 0);
	CHECK_EQ(write_at(s->pool, file, "abc", 3, 0), -ENOSPC);
	CHECK_EQ(read_at(s->pool, file, &byte, 1, 0), 1);
	CHECK_EQ(of_file(s->pool, SLEY_FILE_CLOSE, file), 0);
}

TEST_WORKERS(a_full_device_says_so)
{
	struct sley_file_params params =
		params_of("/dev", SLEY_FILE_WRITABLE | SLEY_FILE_DEVICES);
	struct scene s;

	scene_begin(&s, NULL);
	CHECK_EQ(open_pool(&s, &params, 1, &s.pool), 0);
	run_both(write_to_full, &s);
	scene_stop(&s);
}

/* A link of /proc leads to a file without its path. */
TEST(no_magic_link_leads_out_of_the_folder)
{
	struct sley_file_params params = params_of("/proc/self", 0);
	uint64_t file;
	struct scene s;

	scene_begin(&s, NULL);
	CHECK_EQ(open_pool(&s, &params, 1, &s.pool), 0);
	CHECK_EQ(open_as(s.pool, "root/etc/passwd", SLEY_FILE_TO_READ, &file),
		 -ELOOP);
	CHECK_EQ(open_as(s.pool, "exe", SLEY_FILE_TO_READ, &file), -ELOOP);
	scene_stop(&s);
}

/* ---- at the same time ------------------------------------------------------------------ */

enum { NR_TASKS = 8, BLOCK = 4096 };

struct share {
	struct scene *s;
	uint64_t file;
	atomic_uint next;
};

/* Each task has a block of the file of its own, and all share its number. */
static void use_block(void *arg)
{
	struct share *share = arg;
	uint64_t offset = atomic_fetch_add(&share->next, 1) * BLOCK;
	char data[BLOCK], back[BLOCK];

	for (int i = 0; i < test_scale(40); i++) {
		memset(data, 'a' + i % 20, sizeof(data));
		CHECK_EQ(write_at(share->s->pool, share->file, data, BLOCK,
				  offset),
			 BLOCK);
		CHECK_EQ(read_at(share->s->pool, share->file, back, BLOCK,
				 offset),
			 BLOCK);
		CHECK_EQ(memcmp(data, back, BLOCK), 0);
	}
}

static void share_file(void *arg)
{
	struct share share = { .s = arg };

	share.file = open_new(share.s->pool, "file");
	run_tasks(NR_TASKS, use_block, &share);
	CHECK_EQ(of_file(share.s->pool, SLEY_FILE_CLOSE, share.file), 0);
	CHECK_EQ(unlink_file(share.s->pool, "file"), 0);
}

TEST_WORKERS(many_requests_use_one_file_at_the_same_time)
{
	struct scene s;

	scene_start(&s, SLEY_FILE_WRITABLE, 2);
	run_task(share_file, &s);
	scene_stop(&s);
}

/* Reads until the file is closed: whole blocks of one letter, and then -EBADF. */
static void read_until_closed(void *arg)
{
	struct share *share = arg;
	char back[BLOCK];
	long n;

	atomic_fetch_add(&share->next, 1);
	while ((n = read_at(share->s->pool, share->file, back, BLOCK, 0)) ==
	       BLOCK) {
		CHECK_EQ(back[0], 'x');
		CHECK_EQ(back[BLOCK - 1], 'x');
		sley_yield();
	}
	CHECK_EQ(n, -EBADF);
}

static void close_under_readers(void *arg)
{
	struct share share = { .s = arg };
	struct sley_pool *pool = share.s->pool;
	char data[BLOCK];

	memset(data, 'x', sizeof(data));
	for (int i = 0; i < test_scale(20); i++) {
		struct sley_group group = SLEY_GROUP_INIT;
		struct sley_task reader[4];
		uint64_t other;

		share.file = open_new(pool, "file");
		CHECK_EQ(write_at(pool, share.file, data, BLOCK, 0), BLOCK);
		atomic_store(&share.next, 0);
		for (int j = 0; j < 4; j++)
			sley_spawn(&group, &reader[j], read_until_closed,
				   &share);
		while (atomic_load(&share.next) < 4)
			sley_yield();
		CHECK_EQ(of_file(pool, SLEY_FILE_CLOSE, share.file), 0);
		/* The next file, which may get the same descriptor. */
		other = open_new(pool, "other");
		sley_join(&group);
		CHECK_EQ(of_file(pool, SLEY_FILE_CLOSE, other), 0);
		CHECK_EQ(unlink_file(pool, "file"), 0);
		CHECK_EQ(unlink_file(pool, "other"), 0);
	}
}

TEST_WORKERS(a_file_is_closed_while_requests_read_it)
{
	struct scene s;

	scene_start(&s, SLEY_FILE_WRITABLE, 1);
	run_task(close_under_readers, &s);
	scene_stop(&s);
}

/* ---- the end of requests --------------------------------------------------------------- */

static void end_early(void *arg)
{
	struct scene *s = arg;
	struct sley_file_at in = { .file = open_new(s->pool, "file"),
				   .size = BLOCK };
	struct sley_request request;
	char data[BLOCK];

	CHECK_EQ(sley_pool_call(s->pool,
				SLEY_REQUEST(.method = SLEY_FILE_READ,
					     .query = sley_query_dynamic(),
					     .in = &in, .in_size = sizeof(in),
					     .out = data,
					     .out_size = sizeof(data),
					     .deadline_ns = 1),
				NULL),
		 -ETIMEDOUT);
	for (int i = 0; i < 50; i++) {
		int code;

		CHECK_EQ(sley_submit(s->pool, &request,
				     SLEY_REQUEST(.method = SLEY_FILE_READ,
						  .query = sley_query_dynamic(),
						  .in = &in,
						  .in_size = sizeof(in),
						  .out = data,
						  .out_size = sizeof(data))),
			 0);
		for (int j = 0; j < i % 5; j++)
			sley_yield();
		sley_request_cancel(&request);
		CHECK_EQ(sley_request_wait(&request), 0);
		code = sley_request_code(&request);
		CHECK(code == 0 || code == -ECANCELED);
	}
	/* No user was left behind: the close does not wait. */
	CHECK_EQ(of_file(s->pool, SLEY_FILE_CLOSE, in.file), 0);
	CHECK_EQ(unlink_file(s->pool, "file"), 0);
}

TEST_WORKERS(requests_that_are_late_or_cancelled_leave_their_file)
{
	struct scene s;

	scene_start(&s, SLEY_FILE_WRITABLE, 1);
	run_task(end_early, &s);
	scene_stop(&s);
}

TEST_WORKERS(a_drained_container_keeps_its_files)
{
	uint64_t file;
	char back[4];
	struct scene s;

	scene_start(&s, SLEY_FILE_WRITABLE, 1);
	file = open_new(s.pool, "file");
	CHECK_EQ(write_at(s.pool, file, "abcd", 4, 0), 4);
	CHECK_EQ(sley_container_drain_until(s.pool, 0, SLEY_FOREVER), 0);
	CHECK_EQ(sley_pool_call(s.pool,
				SLEY_REQUEST(.method = SLEY_FILE_SYNC,
					     .query = sley_query_within(
						     sley_query_dynamic(), 0),
					     .in = &file,
					     .in_size = sizeof(file)),
				NULL),
		 -ETIMEDOUT);
	CHECK_EQ(sley_container_open(s.pool, 0), 0);
	CHECK_EQ(read_at(s.pool, file, back, 4, 0), 4);
	CHECK_EQ(memcmp(back, "abcd", 4), 0);
	CHECK_EQ(unlink_file(s.pool, "file"), 0);
	scene_stop(&s);
}

TEST_WORKERS(c49_a_container_of_files_says_what_it_moved)
{
	char text[200], data[100] = "";
	uint64_t file;
	struct scene s;
	int n;

	scene_start(&s, SLEY_FILE_WRITABLE, 1);
	file = open_new(s.pool, "file");
	CHECK_EQ(write_at(s.pool, file, data, 100, 0), 100);
	CHECK_EQ(read_at(s.pool, file, data, 60, 70), 30);
	CHECK_EQ(read_at(s.pool, file, data, 10, 0), 10);
	n = sley_pool_inspect_json(s.pool, "container_stats:0:files", text,
				   sizeof(text));
	CHECK_EQ(n, strlen(text));
	CHECK_STR(text, "{\"open\":1,\"max_open\":1024,\"reads\":2,"
			"\"read_bytes\":40,\"writes\":1,"
			"\"written_bytes\":100}");
	CHECK_EQ(sley_pool_inspect_json(s.pool, "container_stats:0:other", text,
					sizeof(text)),
		 -ENOENT);
	CHECK_EQ(unlink_file(s.pool, "file"), 0);
	scene_stop(&s);
}

TEST(a_child_of_fork_is_told_that_its_files_are_lost)
{
	uint64_t file;
	struct scene s;
	int status;
	pid_t pid;

	if (test_sanitizer() || test_emulated())
		test_skip("fork() with threads");
	scene_start(&s, SLEY_FILE_WRITABLE, 1);
	file = open_new(s.pool, "file");
	pid = fork();
	CHECK_GE(pid, 0);
	if (pid == 0) {
		alarm(20);
		CHECK_EQ(of_file(s.pool, SLEY_FILE_CLOSE, file), SLEY_EFORKED);
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	CHECK_EQ(of_file(s.pool, SLEY_FILE_CLOSE, file), 0);
	CHECK_EQ(unlink_file(s.pool, "file"), 0);
	scene_stop(&s);
}
