/* SPDX-License-Identifier: MIT */
/*
 * io_file.c - <sley/io_file.h>: files, their names, and their contents.
 */
#include <linux/io_uring.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "conformance/io/temporary.h"

enum { NOT_OPEN = 100000 };

/* ---- contents and offsets ---------------------------------------------------------------- */

static void read_at_offsets(void *arg)
{
	int fd = make_file(arg, "file", 10000);
	char data[4096];

	CHECK_EQ(sley_io_pread(fd, data, 4096, 0), 4096);
	check_pattern(data, 4096, 0);
	CHECK_EQ(sley_io_pread(fd, data, 4096, 4095), 4096);
	check_pattern(data, 4096, 4095);
	CHECK_EQ(sley_io_pread(fd, data, 4096, 8000), 2000);
	check_pattern(data, 2000, 8000);
	CHECK_EQ(sley_io_pread(fd, data, 4096, 10000), 0);
	CHECK_EQ(sley_io_pread(fd, data, 4096, 99999), 0);
	CHECK_EQ(sley_io_pread(fd, data, 0, 0), 0);
	CHECK_EQ(sley_io_pread(fd, data, 1, -1), -EINVAL);
	CHECK_EQ(lseek(fd, 0, SEEK_CUR), 0);
	CHECK_EQ(sley_io_close(fd), 0);
	CHECK_EQ(sley_io_pread(NOT_OPEN, data, 1, 0), -EBADF);
	CHECK_EQ(sley_io_unlinkat(((struct folder *)arg)->fd, "file", 0), 0);
}

TEST_WORKERS(a_read_at_an_offset_ends_at_the_end_of_the_file)
{
	check_in_folder(read_at_offsets);
}

static void write_at_offsets(void *arg)
{
	struct folder *folder = arg;
	int fd = sley_io_openat(folder->fd, "file", O_RDWR | O_CREAT, 0600);
	char data[5000], back[5000];

	CHECK(fd >= 0);
	CHECK_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
	fill(data, sizeof(data), 3000);
	CHECK_EQ(sley_io_pwrite(fd, data, sizeof(data), 3000), sizeof(data));
	CHECK_EQ(pread(fd, back, sizeof(back), 3000), sizeof(back));
	check_pattern(back, sizeof(back), 3000);
	CHECK_EQ(pread(fd, back, 3000, 0), 3000);
	for (int i = 0; i < 3000; i++)
		CHECK_EQ(back[i], 0);
	CHECK_EQ(sley_io_pwrite(fd, data, 1, -5), -EINVAL);
	CHECK_EQ(sley_io_ftruncate(fd, 3001), 0);
	CHECK_EQ(sley_io_pread(fd, back, sizeof(back), 3000), 1);
	CHECK_EQ(sley_io_fsync(fd), 0);
	CHECK_EQ(sley_io_fdatasync(fd), 0);
	CHECK_EQ(sley_io_close(fd), 0);
	CHECK_EQ(sley_io_unlinkat(folder->fd, "file", 0), 0);
}

TEST_WORKERS(a_write_at_an_offset_leaves_a_hole_before_it)
{
	check_in_folder(write_at_offsets);
}

static void use_position(void *arg)
{
	struct folder *folder = arg;
	int fd = make_file(folder, "file", 10000);
	char data[6000];

	CHECK_EQ(sley_io_read(fd, data, 6000), 6000);
	check_pattern(data, 6000, 0);
	CHECK_EQ(sley_io_pread(fd, data, 100, 50), 100);
	check_pattern(data, 100, 50);
	CHECK_EQ(sley_io_read(fd, data, 6000), 4000);
	check_pattern(data, 4000, 6000);
	CHECK_EQ(sley_io_read(fd, data, 6000), 0);
	fill(data, 6000, 10000);
	CHECK_EQ(sley_io_write(fd, data, 6000), 6000);
	CHECK_EQ(lseek(fd, 0, SEEK_CUR), 16000);
	CHECK_EQ(lseek(fd, 4000, SEEK_SET), 4000);
	CHECK_EQ(sley_io_read(fd, data, 6000), 6000);
	check_pattern(data, 6000, 4000);
	CHECK_EQ(sley_io_close(fd), 0);
	CHECK_EQ(sley_io_unlinkat(folder->fd, "file", 0), 0);
}

TEST_WORKERS(reads_and_writes_move_the_position_on)
{
	check_in_folder(use_position);
}

enum { NR_PARTS = 40, PART = 333 };

static void use_parts(void *arg)
{
	struct folder *folder = arg;
	int fd = make_file(folder, "file", 0);
	static __thread char memory[NR_PARTS][PART];
	struct iovec part[NR_PARTS];
	char(*rows)[PART] = memory;

	for (int i = 0; i < NR_PARTS; i++) {
		part[i] = (struct iovec){ rows[i], PART };
		fill(rows[i], PART, (size_t)i * PART);
	}
	CHECK_EQ(sley_io_pwritev(fd, part, NR_PARTS, 0), NR_PARTS * PART);
	memset(rows, 0, NR_PARTS * PART);
	make_cold(fd);
	CHECK_EQ(sley_io_preadv(fd, part, NR_PARTS, 0), NR_PARTS * PART);
	check_pattern(rows[0], NR_PARTS * PART, 0);
	CHECK_EQ(sley_io_preadv(fd, part, NR_PARTS, PART),
		 (NR_PARTS - 1) * PART);
	check_pattern(rows[0], (NR_PARTS - 1) * PART, PART);
	CHECK_EQ(sley_io_preadv(fd, part, -1, 0), -EINVAL);
	CHECK_EQ(sley_io_pwritev(fd, part, 100000, 0), -EINVAL);
	CHECK_EQ(sley_io_close(fd), 0);
	CHECK_EQ(sley_io_unlinkat(folder->fd, "file", 0), 0);
}

TEST_WORKERS(parts_are_read_and_written_one_after_the_other)
{
	check_in_folder(use_parts);
}

/* Every second page is in the cache: a try ends halfway, and the rest is waited for. */
static void read_cold(void *arg)
{
	struct folder *folder = arg;
	enum { SIZE = 1 << 20, PAGE = 4096 };
	char *data = malloc(SIZE), byte;
	int fd = make_file(folder, "file", SIZE);

	CHECK(data != NULL);
	CHECK_EQ(posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM), 0);
	for (int i = 0; i < 3; i++) {
		make_cold(fd);
		for (off_t at = i * PAGE; at < SIZE; at += (i + 1) * PAGE)
			CHECK_EQ(pread(fd, &byte, 1, at), 1);
		memset(data, 0, SIZE);
		CHECK_EQ(sley_io_pread(fd, data, SIZE, 0), SIZE);
		check_pattern(data, SIZE, 0);
		make_cold(fd);
		CHECK_EQ(lseek(fd, 100, SEEK_SET), 100);
		CHECK_EQ(sley_io_read(fd, data, SIZE), SIZE - 100);
		check_pattern(data, SIZE - 100, 100);
	}
	CHECK_EQ(sley_io_close(fd), 0);
	CHECK_EQ(sley_io_unlinkat(folder->fd, "file", 0), 0);
	free(data);
}

TEST_WORKERS(a_file_that_is_not_in_the_cache_is_read_as_well)
{
	check_in_folder(read_cold);
}

/* ---- appending -------------------------------------------------------------------------------- */

enum { NR_APPENDERS = 8, NR_RECORDS = 50, RECORD = 64 };

struct appending {
	int fd;
	atomic_int next;
};

static void append(void *arg)
{
	struct appending *appending = arg;
	char record[RECORD];

	memset(record, 'a' + atomic_fetch_add(&appending->next, 1), RECORD);
	for (int i = 0; i < NR_RECORDS; i++)
		CHECK_EQ(i % 2 ? sley_io_write(appending->fd, record, RECORD)
			       : sley_io_pwrite(appending->fd, record, RECORD,
						0),
			 RECORD);
}

TEST_WORKERS(appends_of_several_tasks_do_not_mix)
{
	struct folder folder = make_folder();
	struct sley *rt = start();
	struct appending appending = {
		.fd = sley_io_openat(folder.fd, "log",
				     O_RDWR | O_CREAT | O_APPEND, 0600)
	};
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[NR_APPENDERS];
	int nr[NR_APPENDERS] = { 0 };
	char record[RECORD];

	CHECK(appending.fd >= 0);
	for (int i = 0; i < NR_APPENDERS; i++)
		sley_spawn(&group, &task[i], append, &appending);
	sley_join(&group);
	for (int i = 0; i < NR_APPENDERS * NR_RECORDS; i++) {
		CHECK_EQ(sley_io_pread(appending.fd, record, RECORD,
				       (off_t)i * RECORD),
			 RECORD);
		for (int j = 1; j < RECORD; j++)
			CHECK_EQ(record[j], record[0]);
		nr[record[0] - 'a']++;
	}
	CHECK_EQ(sley_io_pread(appending.fd, record, 1,
			       (off_t)NR_APPENDERS * NR_RECORDS * RECORD),
		 0);
	for (int i = 0; i < NR_APPENDERS; i++)
		CHECK_EQ(nr[i], NR_RECORDS);
	CHECK_EQ(sley_io_close(appending.fd), 0);
	CHECK_EQ(sley_io_unlinkat(folder.fd, "log", 0), 0);
	remove_folder(&folder);
	stop(rt);
}

/* ---- names -------------------------------------------------------------------------------------- */

static void use_names(void *arg)
{
	struct folder *folder = arg;
	int fd = make_file(folder, "first", 1234);
	struct statx stat;
	char path[64];

	CHECK_EQ(sley_io_statx(folder->fd, "first", 0, STATX_SIZE, &stat), 0);
	CHECK_EQ(stat.stx_size, 1234);
	CHECK_EQ(sley_io_statx(fd, "", AT_EMPTY_PATH, STATX_NLINK, &stat), 0);
	CHECK_EQ(stat.stx_nlink, 1);
	CHECK_EQ(sley_io_renameat(folder->fd, "first", folder->fd, "second", 0),
		 0);
	CHECK_EQ(sley_io_statx(folder->fd, "first", 0, STATX_SIZE, &stat),
		 -ENOENT);
	CHECK_EQ(sley_io_openat(folder->fd, "first", O_RDONLY, 0), -ENOENT);
	CHECK_EQ(sley_io_openat(folder->fd, "second",
				O_WRONLY | O_CREAT | O_EXCL, 0600),
		 -EEXIST);
	snprintf(path, sizeof(path), "%s/second", folder->path);
	CHECK_EQ(sley_io_unlink(path), 0);
	CHECK_EQ(sley_io_unlink(path), -ENOENT);
	CHECK_EQ(sley_io_statx(fd, "", AT_EMPTY_PATH, STATX_NLINK, &stat), 0);
	CHECK_EQ(stat.stx_nlink, 0);
	CHECK_EQ(sley_io_close(fd), 0);
	CHECK_EQ(sley_io_statx(NOT_OPEN, "", AT_EMPTY_PATH, STATX_NLINK, &stat),
		 -EBADF);
}

TEST_WORKERS(names_come_and_go)
{
	check_in_folder(use_names);
}

static void misuse_directory(void *arg)
{
	struct folder *folder = arg;
	char data[16];
	int fd = sley_io_open(folder->path, O_RDONLY | O_DIRECTORY, 0);

	CHECK(fd >= 0);
	CHECK_EQ(sley_io_read(fd, data, sizeof(data)), -EISDIR);
	CHECK_EQ(sley_io_pread(fd, data, sizeof(data), 0), -EISDIR);
	CHECK_EQ(sley_io_write(fd, data, sizeof(data)), -EBADF);
	CHECK_EQ(sley_io_fsync(fd), 0);
	CHECK_EQ(sley_io_close(fd), 0);
	CHECK_EQ(sley_io_unlink(folder->path), -EISDIR);
	CHECK_EQ(sley_io_openat(-7, "x", O_RDONLY, 0), -EBADF);
}

TEST_WORKERS(a_directory_has_no_bytes)
{
	check_in_folder(misuse_directory);
}

static void open_beneath(void *arg)
{
	struct folder *folder = arg;
	int fd;

	CHECK_EQ(symlinkat("/etc", folder->fd, "out"), 0);
	CHECK_EQ(symlinkat("file", folder->fd, "in"), 0);
	fd = sley_io_open_beneath(folder->fd, "file", O_RDWR | O_CREAT | O_EXCL,
				  0640);
	CHECK(fd >= 0);
	CHECK_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
	CHECK_EQ(sley_io_pwrite(fd, "abc", 3, 0), 3);
	CHECK_EQ(sley_io_close(fd), 0);
	fd = sley_io_open_beneath(folder->fd, "in", O_RDONLY, 0640);
	CHECK(fd >= 0);
	CHECK_EQ(sley_io_close(fd), 0);
	CHECK_EQ(sley_io_open_beneath(folder->fd, "../x", O_RDONLY, 0), -EXDEV);
	CHECK_EQ(sley_io_open_beneath(folder->fd, "/etc/passwd", O_RDONLY, 0),
		 -EXDEV);
	CHECK_EQ(sley_io_open_beneath(folder->fd, "out/passwd", O_RDONLY, 0),
		 -EXDEV);
	CHECK_EQ(sley_io_open_beneath(folder->fd, "none", O_RDONLY, 0),
		 -ENOENT);
	CHECK_EQ(sley_io_open_beneath(NOT_OPEN, "file", O_RDONLY, 0), -EBADF);
	CHECK_EQ(sley_io_unlinkat(folder->fd, "file", 0), 0);
	CHECK_EQ(sley_io_unlinkat(folder->fd, "in", 0), 0);
	CHECK_EQ(sley_io_unlinkat(folder->fd, "out", 0), 0);
}

TEST_WORKERS(a_path_that_leaves_its_folder_is_not_opened)
{
	check_in_folder(open_beneath);
}

static void misuse_pipe(void *arg)
{
	int fd[2];
	char data[16] = { 0 };

	(void)arg;
	CHECK_EQ(pipe2(fd, O_CLOEXEC), 0);
	CHECK_EQ(sley_io_pread(fd[0], data, sizeof(data), 0), -ESPIPE);
	CHECK_EQ(sley_io_pwrite(fd[1], data, sizeof(data), 0), -ESPIPE);
	CHECK_EQ(sley_io_fsync(fd[1]), -EINVAL);
	CHECK_EQ(sley_io_close(fd[0]), 0);
	CHECK_EQ(sley_io_close(fd[1]), 0);
}

TEST_WORKERS(a_pipe_has_no_offsets)
{
	check_in_folder(misuse_pipe);
}

static void read_device(void *arg)
{
	int fd = sley_io_open("/dev/zero", O_RDWR, 0);
	char data[64];

	(void)arg;
	CHECK(fd >= 0);
	memset(data, 1, sizeof(data));
	CHECK_EQ(sley_io_pread(fd, data, sizeof(data), 5000), sizeof(data));
	CHECK_EQ(data[63], 0);
	CHECK_EQ(sley_io_pwrite(fd, data, sizeof(data), 5000), sizeof(data));
	CHECK_EQ(sley_io_close(fd), 0);
}

TEST_WORKERS(a_device_may_have_offsets)
{
	check_in_folder(read_device);
}

/* ---- many at a time --------------------------------------------------------------------------------- */

enum { NR_READERS = 600, BLOCK = 4096 };

struct reading {
	int fd;
	atomic_int next;
};

static void read_block(void *arg)
{
	struct reading *reading = arg;
	size_t at = (size_t)atomic_fetch_add(&reading->next, 1) * BLOCK;
	char data[BLOCK];
	struct statx stat;

	CHECK_EQ(sley_io_pread(reading->fd, data, BLOCK, (off_t)at), BLOCK);
	check_pattern(data, BLOCK, at);
	CHECK_EQ(sley_io_statx(reading->fd, "", AT_EMPTY_PATH, STATX_SIZE,
			       &stat),
		 0);
	CHECK_EQ(stat.stx_size, NR_READERS * BLOCK);
}

TEST_WORKERS(more_calls_than_a_ring_holds_are_all_carried_out)
{
	struct folder folder = make_folder();
	struct sley *rt = start();
	struct reading reading = {
		.fd = make_file(&folder, "file", NR_READERS * BLOCK),
	};
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task *task = calloc(NR_READERS, sizeof(*task));

	CHECK(task != NULL);
	CHECK_EQ(posix_fadvise(reading.fd, 0, 0, POSIX_FADV_RANDOM), 0);
	make_cold(reading.fd);
	for (int i = 0; i < NR_READERS; i++)
		sley_spawn(&group, &task[i], read_block, &reading);
	sley_join(&group);
	CHECK_EQ(reading.next, NR_READERS);
	CHECK_EQ(sley_io_close(reading.fd), 0);
	CHECK_EQ(sley_io_unlinkat(folder.fd, "file", 0), 0);
	remove_folder(&folder);
	stop(rt);
	free(task);
}

/* ---- deadlines and cancels ------------------------------------------------------------------------------ */

/* What is in the cache needs no wait. */
static void read_too_late(void *arg)
{
	struct folder *folder = arg;
	int fd = make_file(folder, "file", 100);
	char data[100];

	CHECK_EQ(sley_io_pread_until(fd, data, sizeof(data), 0, 1), 100);
	CHECK_EQ(sley_io_close(fd), 0);
	CHECK_EQ(sley_io_unlinkat(folder->fd, "file", 0), 0);
}

TEST_WORKERS(a_read_of_the_cache_is_never_too_late)
{
	check_in_folder(read_too_late);
}

/* Past the cache there is always a wait: on a worker nothing is done in place. */
static void read_and_write_past_cache(void *arg)
{
	struct folder *folder = arg;
	int fd = make_file(folder, "file", 8192), direct;
	char *data = aligned_alloc(4096, 4096);

	direct = openat(folder->fd, "file", O_RDWR | O_DIRECT | O_CLOEXEC);
	if (direct < 0) {
		CHECK_EQ(unlinkat(folder->fd, "file", 0), 0);
		CHECK_EQ(rmdir(folder->path), 0);
		test_skip("the file system refuses O_DIRECT");
	}
	/* With pages to write back the kernel would refuse a try by itself. */
	make_cold(fd);
	CHECK_EQ(sley_io_pread_until(direct, data, 4096, 4096, 1), -ETIMEDOUT);
	CHECK_EQ(sley_io_pread(direct, data, 4096, 4096), 4096);
	check_pattern(data, 4096, 4096);
	CHECK_EQ(sley_io_pwrite_until(direct, data, 4096, 0, 1), -ETIMEDOUT);
	CHECK_EQ(sley_io_pwrite(direct, data, 4096, 0), 4096);
	CHECK_EQ(sley_io_pread(direct, data, 4096, 0), 4096);
	check_pattern(data, 4096, 4096);
	CHECK_EQ(sley_io_close(direct), 0);
	CHECK_EQ(sley_io_close(fd), 0);
	CHECK_EQ(sley_io_unlinkat(folder->fd, "file", 0), 0);
	free(data);
}

TEST_WORKERS(a_call_past_the_cache_is_not_made_in_place)
{
	struct folder folder = make_folder();
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	sley_spawn(&group, &task, read_and_write_past_cache, &folder);
	sley_join(&group);
	remove_folder(&folder);
	stop(rt);
}

static void call_too_late(void *arg)
{
	struct folder *folder = arg;
	struct statx stat;

	CHECK_EQ(sley_io_openat_until(folder->fd, "new", O_RDWR | O_CREAT, 0600,
				      1),
		 -ETIMEDOUT);
	CHECK_EQ(sley_io_statx(folder->fd, "new", 0, STATX_SIZE, &stat),
		 -ENOENT);
}

TEST_WORKERS(a_call_whose_deadline_has_passed_does_not_begin)
{
	struct folder folder = make_folder();
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	sley_spawn(&group, &task, call_too_late, &folder);
	sley_join(&group);
	remove_folder(&folder);
	stop(rt);
}

struct cancelled {
	int fd;
	int result;
	int closed;
	atomic_int begun;
};

static void call_cancelled(void *arg)
{
	struct cancelled *cancelled = arg;

	atomic_store(&cancelled->begun, 1);
	CHECK_EQ(sley_sleep_until(SLEY_FOREVER), -ECANCELED);
	cancelled->result = sley_io_fsync(cancelled->fd);
	cancelled->closed = sley_io_close(cancelled->fd);
}

/* Is @fd the file @name?  The number may be in use again. */
static bool is_open(const struct folder *folder, const char *name, int fd)
{
	struct stat of_name, of_fd;

	CHECK_EQ(fstatat(folder->fd, name, &of_name, 0), 0);
	return fstat(fd, &of_fd) == 0 && of_fd.st_ino == of_name.st_ino &&
	       of_fd.st_dev == of_name.st_dev;
}

TEST_WORKERS(a_cancelled_task_begins_nothing_but_a_close)
{
	struct folder folder = make_folder();
	struct sley *rt = start();
	struct cancelled cancelled = { .fd = make_file(&folder, "file", 10) };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	sley_spawn(&group, &task, call_cancelled, &cancelled);
	while (!atomic_load(&cancelled.begun))
		sley_yield();
	sley_cancel(&task);
	sley_join(&group);
	CHECK_EQ(cancelled.result, -ECANCELED);
	CHECK_EQ(cancelled.closed, 0);
	CHECK(!is_open(&folder, "file", cancelled.fd));
	CHECK_EQ(sley_io_unlinkat(folder.fd, "file", 0), 0);
	remove_folder(&folder);
	stop(rt);
}

/* ---- the worker goes on ---------------------------------------------------------------------------------- */

struct opening {
	struct folder *folder;
	int fd;
	uint64_t deadline_ns;
	atomic_int begun;
};

/* Waits until the FIFO is opened for writing, too. */
static void open_fifo(void *arg)
{
	struct opening *opening = arg;

	atomic_store(&opening->begun, 1);
	opening->fd = sley_io_openat_until(opening->folder->fd, "fifo",
					   O_RDONLY, 0, opening->deadline_ns);
}

static void open_fifo_in_vain(void *arg)
{
	struct opening *opening = arg;

	CHECK_EQ(sley_io_openat_until(opening->folder->fd, "fifo", O_RDONLY, 0,
				      opening->deadline_ns),
		 -ETIMEDOUT);
	atomic_fetch_add(&opening->begun, 1);
}

TEST_WORKERS(a_call_that_is_held_up_does_not_hold_its_worker)
{
	struct folder folder = make_folder();
	struct sley *rt = start();
	struct opening opening = { .folder = &folder,
				   .deadline_ns = SLEY_FOREVER };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	int fd;

	CHECK_EQ(mkfifoat(folder.fd, "fifo", 0600), 0);
	sley_spawn(&group, &task, open_fifo, &opening);
	while (!atomic_load(&opening.begun))
		CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
	CHECK_EQ(sley_sleep(5 * SLEY_MSEC), 0);
	fd = openat(folder.fd, "fifo", O_WRONLY | O_CLOEXEC);
	CHECK(fd >= 0);
	sley_join(&group);
	CHECK(opening.fd >= 0);
	CHECK_EQ(sley_io_close(opening.fd), 0);
	CHECK_EQ(close(fd), 0);
	CHECK_EQ(sley_io_unlinkat(folder.fd, "fifo", 0), 0);
	remove_folder(&folder);
	stop(rt);
}

/* ---- taken back ------------------------------------------------------------------------------------------- */

static bool test_has_uring(void)
{
	struct io_uring_params params = { 0 };
	long fd = syscall(SYS_io_uring_setup, 1, &params);

	if (fd < 0)
		return false;
	CHECK_EQ(close((int)fd), 0);
	return true;
}

/* Skips the test where files are not in a ring. */
static void need_ring(struct sley *rt)
{
	struct sley_config config = { .size = sizeof(config) };

	CHECK_EQ(sley_get_config(rt, &config), 0);
	if (config.io != SLEY_IO_URING || !test_has_uring()) {
		stop(rt);
		test_skip("files are not in a ring here");
	}
}

TEST_WORKERS(a_deadline_takes_back_what_has_not_ended)
{
	struct sley *rt = start();
	struct folder folder;
	struct opening opening;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	need_ring(rt);
	folder = make_folder();
	CHECK_EQ(mkfifoat(folder.fd, "fifo", 0600), 0);
	opening =
		(struct opening){ .folder = &folder, .deadline_ns = in_ms(20) };
	sley_spawn(&group, &task, open_fifo, &opening);
	sley_join(&group);
	CHECK_EQ(opening.fd, -ETIMEDOUT);
	CHECK_GE(sley_now(), opening.deadline_ns);
	CHECK_EQ(openat(folder.fd, "fifo", O_WRONLY | O_NONBLOCK | O_CLOEXEC),
		 -1);
	CHECK_EQ(errno, ENXIO);
	CHECK_EQ(sley_io_unlinkat(folder.fd, "fifo", 0), 0);
	remove_folder(&folder);
	stop(rt);
}

TEST_WORKERS(a_cancel_takes_back_what_has_not_ended)
{
	struct sley *rt = start();
	struct folder folder;
	struct opening opening;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	need_ring(rt);
	folder = make_folder();
	CHECK_EQ(mkfifoat(folder.fd, "fifo", 0600), 0);
	for (int i = 0; i < test_scale(100); i++) {
		opening = (struct opening){ .folder = &folder,
					    .deadline_ns = SLEY_FOREVER };
		sley_spawn(&group, &task, open_fifo, &opening);
		while (!atomic_load(&opening.begun))
			sley_yield();
		if (i % 4 == 0)
			CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
		sley_cancel(&task);
		sley_join(&group);
		CHECK_EQ(opening.fd, -ECANCELED);
	}
	CHECK_EQ(sley_io_unlinkat(folder.fd, "fifo", 0), 0);
	remove_folder(&folder);
	stop(rt);
}

enum { NR_OPENERS = 700 };

/* More opens than the ring has places, and none can go on before the end. */
TEST_WORKERS(calls_that_find_the_ring_full_wait_and_can_be_cancelled)
{
	struct sley *rt = start();
	struct folder folder;
	struct opening opening;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task *task = calloc(NR_OPENERS, sizeof(*task));

	need_ring(rt);
	CHECK(task != NULL);
	folder = make_folder();
	CHECK_EQ(mkfifoat(folder.fd, "fifo", 0600), 0);
	opening = (struct opening){ .folder = &folder,
				    .deadline_ns = in_ms(200) };
	for (int i = 0; i < NR_OPENERS; i++)
		sley_spawn(&group, &task[i], open_fifo_in_vain, &opening);
	sley_join(&group);
	CHECK_EQ(opening.begun, NR_OPENERS);
	CHECK_EQ(sley_io_unlinkat(folder.fd, "fifo", 0), 0);
	remove_folder(&folder);
	stop(rt);
	free(task);
}

/* ---- no ring ------------------------------------------------------------------------------------------------ */

enum { NR_FILES_MAX = 4096 };

/* Takes all numbers of descriptors but @free; gives their numbers. */
static int use_up(int *fd, int free)
{
	int nr = 0;

	while ((fd[nr] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
		CHECK_LT(++nr, NR_FILES_MAX);
	CHECK_EQ(errno, EMFILE);
	while (free--)
		CHECK_EQ(close(fd[--nr]), 0);
	return nr;
}

static void sync_file(void *arg)
{
	CHECK_EQ(sley_io_fsync(*(int *)arg), 0);
}

/* The ring is made when there is room again, or a thread does the work. */
TEST_WORKERS(without_a_free_descriptor_a_thread_does_the_work)
{
	struct folder folder = make_folder();
	struct sley *rt = start();
	const struct rlimit limit = { 200, 200 };
	static int fd[NR_FILES_MAX];
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	int file = make_file(&folder, "file", 100), nr;

	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
	for (int i = 0; i < 4; i++) {
		nr = use_up(fd, i);
		sley_spawn(&group, &task, sync_file, &file);
		sley_join(&group);
		while (nr)
			CHECK_EQ(close(fd[--nr]), 0);
	}
	sley_spawn(&group, &task, sync_file, &file);
	sley_join(&group);
	CHECK_EQ(sley_io_close(file), 0);
	CHECK_EQ(sley_io_unlinkat(folder.fd, "file", 0), 0);
	remove_folder(&folder);
	stop(rt);
}

/* The child has the files of its parent, but neither its runtime nor its ring. */
TEST_WORKERS(a_child_of_fork_uses_files_by_itself)
{
	struct folder folder = make_folder();
	struct sley *rt = start();
	int file = make_file(&folder, "file", 100), status;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	char data[100];
	pid_t child;

	sley_spawn(&group, &task, sync_file, &file);
	sley_join(&group);
	child = fork();
	CHECK_GE(child, 0);
	if (!child) {
		bool good = sley_io_pread(file, data, 100, 0) == 100 &&
			    sley_io_fsync(file) == 0 &&
			    sley_io_close(file) == 0;

		_exit(good ? 0 : 1);
	}
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(status, 0);
	sley_spawn(&group, &task, sync_file, &file);
	sley_join(&group);
	CHECK_EQ(sley_io_close(file), 0);
	CHECK_EQ(sley_io_unlinkat(folder.fd, "file", 0), 0);
	remove_folder(&folder);
	stop(rt);
}
