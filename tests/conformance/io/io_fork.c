/* SPDX-License-Identifier: MIT */
/*
 * io_fork.c - a child of fork() has the descriptors of its parent, none of its waits,
 * and a reactor of its own.
 */
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conformance/bound.h"

struct stream {
	int from, to;
	atomic_bool begun;
};

static struct stream streams[2]; /* of the parent, and of both */

static void open_stream(struct stream *stream)
{
	int fd[2];

	CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd), 0);
	*stream = (struct stream){ .from = fd[0], .to = fd[1] };
}

static void close_stream(struct stream *stream)
{
	CHECK_EQ(sley_io_close(stream->from), 0);
	CHECK_EQ(sley_io_close(stream->to), 0);
}

static void read_byte(void *arg)
{
	struct stream *stream = arg;
	char byte;

	atomic_store(&stream->begun, true);
	CHECK_EQ(sley_io_read_until(stream->from, &byte, 1, in_ms(10000)), 1);
}

/* A task waits for a byte, as a rule, which comes then. */
static void pass_byte(struct stream *stream)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	atomic_store(&stream->begun, false);
	sley_spawn(&group, &task, read_byte, stream);
	while (!atomic_load(&stream->begun))
		sley_yield();
	CHECK_EQ(sley_io_write(stream->to, "a", 1), 1);
	sley_join(&group);
}

/* The waiters and the reactor of the parent are not there; a new one is. */
static void wait_in_child(void)
{
	struct sley_config config = config_of(1);
	struct sley *own = start_with(&config);

	pass_byte(&streams[1]);
	close_stream(&streams[0]);
	close_stream(&streams[1]);
	stop(own);
}

static void check_child(void)
{
	pid_t pid = fork();
	int status;

	CHECK(pid >= 0);
	if (pid == 0) {
		wait_in_child();
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
}

/* A task of the parent waits meanwhile, and goes on waiting. */
TEST_WORKERS(a_child_waits_for_descriptors_of_its_parent)
{
	struct sley *rt;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	if (test_sanitizer() || test_emulated())
		test_skip("threads in the forked child of a process with "
			  "threads");
	rt = start();
	open_stream(&streams[0]);
	open_stream(&streams[1]);
	pass_byte(&streams[1]);
	sley_spawn(&group, &task, read_byte, &streams[0]);
	while (!atomic_load(&streams[0].begun))
		sley_yield();
	check_child();
	CHECK_EQ(sley_io_write(streams[0].to, "p", 1), 1);
	sley_join(&group);
	pass_byte(&streams[1]);
	close_stream(&streams[0]);
	close_stream(&streams[1]);
	stop(rt);
}
