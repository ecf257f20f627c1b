/* SPDX-License-Identifier: MIT */
/*
 * clients.c - a client of a daemon, where calls of the client fail: opening fails, or a
 * request is not accepted, with the error that happened.  The daemon is another process, in
 * which no call fails.
 */
#include "fault/sweep.h"
#include "fault/trial.h"

#include <errno.h>
#include <signal.h>
#include <sley/client.h>
#include <sley/server.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define LARGE 100000

static char folder[64], path[80];
static int daemon_pid;

static int echo(void *self, struct sley_request *request)
{
	size_t size;
	const void *in = sley_request_in(request, &size);

	(void)self;
	return sley_request_answer(request, in, size);
}

static const struct sley_method methods[] = { { .name = "echo", .run = echo } };

static const struct sley_module module = {
	SLEY_MODULE_HEAD("echo"),
	.methods = methods,
	.nr_methods = 1,
};

/* ---- the daemon ---------------------------------------------------------------------- */

static _Noreturn void be_daemon(int ready)
{
	struct sley_router *router;
	struct sley_server *server;
	struct sley_pool *pool;
	struct sley *rt;

	fault_set_plan(NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	CHECK_EQ(sley_create(&rt, SLEY_CONFIG(.workers = 2)), 0);
	CHECK_EQ(sley_router_create(rt, &router, NULL), 0);
	CHECK_EQ(sley_router_add(router, &module), 0);
	CHECK_EQ(sley_pool_open(router, &pool, "p",
				SLEY_POOL_OPTIONS(.module = "echo")),
		 0);
	CHECK_EQ(sley_server_create(router, &server,
				    SLEY_SERVER_OPTIONS(.socket = path)),
		 0);
	CHECK_EQ(write(ready, "r", 1), 1);
	for (;;)
		pause();
}

static void start_daemon(void)
{
	int ready[2];
	char byte;

	CHECK_EQ(pipe(ready), 0);
	daemon_pid = fork();
	CHECK_GE(daemon_pid, 0);
	if (!daemon_pid)
		be_daemon(ready[1]);
	close(ready[1]);
	CHECK_EQ(read(ready[0], &byte, 1), 1);
	close(ready[0]);
}

/* A process without threads, which becomes the next daemon when it is told. */
static struct next {
	int pid, go, ready;
} next;

static void prepare_next(void)
{
	int go[2], ready[2];
	char byte;

	CHECK_EQ(pipe(go), 0);
	CHECK_EQ(pipe(ready), 0);
	next.pid = fork();
	CHECK_GE(next.pid, 0);
	if (!next.pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(go[1]);
		if (read(go[0], &byte, 1) != 1)
			_exit(0);
		be_daemon(ready[1]);
	}
	close(go[0]);
	close(ready[1]);
	next.go = go[1];
	next.ready = ready[0];
}

static void start_next(void)
{
	char byte;

	CHECK_EQ(write(next.go, "g", 1), 1);
	CHECK_EQ(read(next.ready, &byte, 1), 1);
	daemon_pid = next.pid;
	next.pid = 0;
}

static void end_next(void)
{
	close(next.go);
	close(next.ready);
	if (next.pid)
		CHECK_EQ(waitpid(next.pid, NULL, 0), next.pid);
}

static void kill_daemon(void)
{
	kill(daemon_pid, SIGKILL);
	CHECK_EQ(waitpid(daemon_pid, NULL, 0), daemon_pid);
}

static void begin(void)
{
	snprintf(folder, sizeof(folder), "%s", "/tmp/sley-fault-XXXXXX");
	CHECK(mkdtemp(folder) != NULL);
	snprintf(path, sizeof(path), "%s/s", folder);
	start_daemon();
}

static void end(void)
{
	char lock[96];

	kill_daemon();
	snprintf(lock, sizeof(lock), "%s.lock", path);
	unlink(lock);
	unlink(path);
	rmdir(folder);
}

/* ---- the client ---------------------------------------------------------------------- */

static void await_end(struct sley_client *client, struct sley_pool *pool)
{
	struct sley_client_info info = { .size = sizeof(info) };

	do {
		CHECK_EQ(sley_pool_call(pool, SLEY_REQUEST(.in_size = 0), NULL),
			 0);
		CHECK_EQ(sley_client_inspect(client, &info), 0);
	} while (info.nr_in_flight);
}

static void use_pool(struct sley_client *client, struct sley_pool *pool)
{
	static unsigned char in[LARGE], out[LARGE];
	uint32_t small = 5, answer = 0;

	CHECK_EQ(sley_pool_call(pool,
				SLEY_REQUEST(.in = &small, .in_size = 4,
					     .out = &answer, .out_size = 4),
				NULL),
		 0);
	CHECK_EQ(answer, 5);
	memset(in, 7, sizeof(in));
	if (TRY(sley_pool_call(pool,
			       SLEY_REQUEST(.in = in, .in_size = LARGE,
					    .out = out, .out_size = LARGE),
			       NULL),
		-ENOMEM))
		CHECK_EQ(out[LARGE - 1], 7);
	(void)TRY(sley_submit_and_forget(pool, SLEY_REQUEST(.in = in,
							    .in_size = LARGE)),
		  -ENOMEM);
	/* Nobody is told if it is lost with the daemon. */
	await_end(client, pool);
}

/* Its requests wait for the next daemon, however often an attempt fails. */
static void use_next_daemon(struct sley_pool *pool)
{
	uint32_t small = 6, answer = 0;
	int code;

	kill_daemon();
	start_daemon();
	code = sley_pool_call(pool,
			      SLEY_REQUEST(.in = &small, .in_size = 4,
					   .out = &answer, .out_size = 4,
					   .idempotent = true),
			      NULL);
	if (code == 0)
		CHECK_EQ(answer, 6);
	else
		CHECK_EQ(code, -EHOSTDOWN);
}

struct call {
	struct sley_pool *pool;
	uint32_t answer;
	int code;
};

static void call_in_task(void *arg)
{
	struct call *call = arg;
	uint32_t small = 7;

	call->code = sley_pool_call(
		call->pool,
		SLEY_REQUEST(.in = &small, .in_size = 4, .out = &call->answer,
			     .out_size = 4, .idempotent = true),
		NULL);
}

/* No thread drives: a task of the runtime connects again, if there is memory for it. */
static void use_next_daemon_in_task(struct sley *rt, struct sley_pool *pool)
{
	struct call call = { .pool = pool };
	struct sley_group group = { 0 };
	struct sley_task task;

	/* Of the task that connects again: a worker makes it later. */
	trial_may_absorb("slab_alloc");
	kill_daemon();
	start_next();
	if (!TRY(sley_spawn_on(rt, &group, &task, call_in_task, &call, NULL),
		 -ENOMEM))
		return;
	sley_join(&group);
	if (call.code == 0)
		CHECK_EQ(call.answer, 7);
	else
		CHECK_EQ(call.code, -EHOSTDOWN);
}

/* That a daemon ends, and the next one comes, is no failure of a call. */
static void ignore_line(void *self, const char *line)
{
	(void)self, (void)line;
}

static void use_client(struct sley *rt)
{
	struct sley_client_options options =
		*SLEY_CLIENT_OPTIONS(.socket = path, .rt = rt,
				     .report = rt ? ignore_line : NULL,
				     .reconnect_ns = 2 * SLEY_SEC);
	struct sley_client *client;
	struct sley_pool *pool;

	if (!TRY(sley_client_open(&client, &options), -ENOMEM, -EMFILE, -ENFILE,
		 -ENOBUFS, -ENOSPC, -EAGAIN, -ECONNREFUSED))
		return;
	if (TRY(sley_client_pool_open(client, &pool, "p", NULL), -ENOMEM)) {
		use_pool(client, pool);
		if (rt) /* a process with threads is not forked here */
			use_next_daemon_in_task(rt, pool);
		else
			use_next_daemon(pool);
		sley_pool_close(pool);
	}
	CHECK_EQ(sley_client_close(client), 0);
}

SCENARIO(clients_of_a_daemon)
{
	begin();
	use_client(NULL);
	end();
}

SCENARIO(clients_with_a_runtime)
{
	struct sley *rt;

	begin();
	prepare_next();
	/* The answer to a welcome: a task connects again, before the opener looks. */
	trial_may_absorb("os_seqpacket_send");
	rt = trial_start(2);
	if (rt) {
		use_client(rt);
		trial_stop(rt);
	}
	end_next();
	end();
}
