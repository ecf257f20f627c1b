/* SPDX-License-Identifier: MIT */
/*
 * io_splice.c - sley_io_sendfile() and sley_io_splice(): bytes that do not pass through
 * the program.
 */
#include "conformance/io/pairs.h"
#include "conformance/io/temporary.h"

enum { SIZE = 700000 };

struct receiving {
	int fd;
	size_t offset; /* in the pattern */
	size_t got;
};

static void receive(void *arg)
{
	struct receiving *receiving = arg;
	char data[5000];
	ssize_t n;

	while ((n = sley_io_read(receiving->fd, data, sizeof(data))) > 0) {
		check_pattern(data, (size_t)n,
			      receiving->offset + receiving->got);
		receiving->got += (size_t)n;
	}
	CHECK_EQ(n, 0);
}

struct sending {
	struct folder *folder;
	int file;
	int to;
	bool by_position;
};

static void send_all(void *arg)
{
	struct sending *sending = arg;
	off_t offset = 1000;

	if (sending->by_position) {
		CHECK_EQ(lseek(sending->file, 1000, SEEK_SET), 1000);
		CHECK_EQ(sley_io_sendfile(sending->to, sending->file, NULL,
					  SIZE * 2),
			 SIZE - 1000);
		CHECK_EQ(lseek(sending->file, 0, SEEK_CUR), SIZE);
	} else {
		CHECK_EQ(sley_io_sendfile(sending->to, sending->file, &offset,
					  SIZE - 1000),
			 SIZE - 1000);
		CHECK_EQ(offset, SIZE);
		CHECK_EQ(sley_io_sendfile(sending->to, sending->file, &offset,
					  1),
			 0);
	}
	CHECK_EQ(sley_io_close(sending->to), 0);
}

static void *send_in_thread(void *arg)
{
	send_all(arg);
	return NULL;
}

static void check_sendfile(bool in_thread)
{
	struct folder folder = make_folder();
	struct sley *rt = start();
	int file = make_file(&folder, "file", SIZE);

	for (int i = 0; i < 2 * NR_PAIR_KINDS; i++) {
		struct pair pair = open_pair((enum pair_kind)(i / 2));
		struct sending sending = { .folder = &folder,
					   .file = file,
					   .to = pair.to,
					   .by_position = i % 2 };
		struct receiving receiving = { .fd = pair.from,
					       .offset = 1000 };
		struct sley_group group = SLEY_GROUP_INIT;
		struct sley_task task[2];

		make_cold(file);
		sley_spawn(&group, &task[0], receive, &receiving);
		if (in_thread)
			CHECK_EQ(pthread_join(test_thread(send_in_thread,
							  &sending),
					      NULL),
				 0);
		else
			sley_spawn(&group, &task[1], send_all, &sending);
		sley_join(&group);
		CHECK_EQ(receiving.got, SIZE - 1000);
		CHECK_EQ(sley_io_close(pair.from), 0);
	}
	CHECK_EQ(sley_io_close(file), 0);
	CHECK_EQ(sley_io_unlinkat(folder.fd, "file", 0), 0);
	remove_folder(&folder);
	stop(rt);
}

TEST_WORKERS(a_file_is_sent_to_the_end)
{
	check_sendfile(false);
}

TEST_WORKERS(a_thread_sends_a_file)
{
	need_workers(1);
	check_sendfile(true);
}

static void send_to_nobody(void *arg)
{
	struct sending *sending = arg;
	off_t offset = 0;

	CHECK_EQ(sley_io_sendfile(sending->to, sending->file, &offset, SIZE),
		 -EPIPE);
	CHECK_EQ(offset, 0);
	offset = -1;
	CHECK_EQ(sley_io_sendfile(sending->to, sending->file, &offset, SIZE),
		 -EINVAL);
}

TEST_WORKERS(a_peer_that_is_gone_raises_no_signal)
{
	struct folder folder = make_folder();
	struct sley *rt = start();
	int file = make_file(&folder, "file", SIZE);
	struct pair pair = open_pair(PAIR_PIPE);
	struct sending sending = { .file = file, .to = pair.to };

	CHECK_EQ(sley_io_close(pair.from), 0);
	run_both(send_to_nobody, &sending);
	CHECK_EQ(sley_io_close(pair.to), 0);
	CHECK_EQ(sley_io_close(file), 0);
	CHECK_EQ(sley_io_unlinkat(folder.fd, "file", 0), 0);
	remove_folder(&folder);
	stop(rt);
}

/* Nobody reads: what was sent is counted, and the next call says why. */
static void send_in_vain(void *arg)
{
	struct sending *sending = arg;
	off_t offset = 0;
	ssize_t n = sley_io_sendfile_until(sending->to, sending->file, &offset,
					   SIZE, in_ms(20));

	CHECK(n > 0 && n < SIZE);
	CHECK_EQ(offset, n);
	CHECK_EQ(sley_io_sendfile_until(sending->to, sending->file, &offset,
					SIZE, in_ms(20)),
		 -ETIMEDOUT);
	CHECK_EQ(offset, n);
}

TEST_WORKERS(a_deadline_ends_the_wait_for_room)
{
	struct folder folder = make_folder();
	struct sley *rt = start();
	int file = make_file(&folder, "file", SIZE);
	struct pair pair = open_pair(PAIR_BLOCKING_PIPE);
	struct sending sending = { .file = file, .to = pair.to };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	sley_spawn(&group, &task, send_in_vain, &sending);
	sley_join(&group);
	close_pair(&pair);
	CHECK_EQ(sley_io_close(file), 0);
	CHECK_EQ(sley_io_unlinkat(folder.fd, "file", 0), 0);
	remove_folder(&folder);
	stop(rt);
}

/* ---- splice -------------------------------------------------------------------------------- */

struct splicing {
	int from;
	int to;
	size_t size;
	size_t moved;
};

static void splice_all(void *arg)
{
	struct splicing *splicing = arg;
	ssize_t n;

	while ((n = sley_io_splice(splicing->from, NULL, splicing->to, NULL,
				   SIZE)) > 0)
		splicing->moved += (size_t)n;
	CHECK_EQ(n, 0);
	CHECK_EQ(sley_io_close(splicing->to), 0);
}

/* Socket to pipe to socket, both with a task in between. */
TEST_WORKERS(bytes_go_through_a_pipe)
{
	struct folder folder = make_folder();
	struct sley *rt = start();
	int file = make_file(&folder, "file", SIZE);
	struct pair first = open_pair(PAIR_TCP), second = open_pair(PAIR_UNIX);
	struct pair pipe = open_pair(PAIR_BLOCKING_PIPE);
	struct sending sending = { .file = file, .to = first.to };
	struct splicing in = { .from = first.from, .to = pipe.to };
	struct splicing out = { .from = pipe.from, .to = second.to };
	struct receiving receiving = { .fd = second.from, .offset = 1000 };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[4];

	sley_spawn(&group, &task[0], receive, &receiving);
	sley_spawn(&group, &task[1], splice_all, &in);
	sley_spawn(&group, &task[2], splice_all, &out);
	sley_spawn(&group, &task[3], send_all, &sending);
	sley_join(&group);
	CHECK_EQ(in.moved, SIZE - 1000);
	CHECK_EQ(out.moved, SIZE - 1000);
	CHECK_EQ(receiving.got, SIZE - 1000);
	CHECK_EQ(sley_io_close(first.from), 0);
	CHECK_EQ(sley_io_close(pipe.from), 0);
	CHECK_EQ(sley_io_close(second.from), 0);
	CHECK_EQ(sley_io_close(file), 0);
	CHECK_EQ(sley_io_unlinkat(folder.fd, "file", 0), 0);
	remove_folder(&folder);
	stop(rt);
}

static void splice_file(void *arg)
{
	struct folder *folder = arg;
	int from = make_file(folder, "from", 5000),
	    to = make_file(folder, "to", 0);
	struct pair pipe = open_pair(PAIR_PIPE);
	off_t from_offset = 100, to_offset = 0;
	char data[1000];

	CHECK_EQ(sley_io_splice(from, &from_offset, pipe.to, NULL, 1000), 1000);
	CHECK_EQ(from_offset, 1100);
	CHECK_EQ(sley_io_splice(pipe.from, NULL, to, &to_offset, 1000), 1000);
	CHECK_EQ(to_offset, 1000);
	CHECK_EQ(sley_io_pread(to, data, 1000, 0), 1000);
	check_pattern(data, 1000, 100);
	CHECK_EQ(sley_io_splice_until(pipe.from, NULL, to, &to_offset, 1000,
				      in_ms(5)),
		 -ETIMEDOUT);
	CHECK_EQ(sley_io_splice(from, NULL, to, NULL, 1000), -EINVAL);
	close_pair(&pipe);
	CHECK_EQ(sley_io_close(from), 0);
	CHECK_EQ(sley_io_close(to), 0);
	CHECK_EQ(sley_io_unlinkat(folder->fd, "from", 0), 0);
	CHECK_EQ(sley_io_unlinkat(folder->fd, "to", 0), 0);
}

TEST_WORKERS(a_file_goes_through_a_pipe)
{
	check_in_folder(splice_file);
}
