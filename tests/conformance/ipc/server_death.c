/* SPDX-License-Identifier: MIT */
/*
 * server_death.c - clients that die, at each step: C40, R-C7.
 *
 * The clients are forked before there is a runtime, and are told by a pipe when to go on.
 * A client that is told to die sends itself SIGKILL.
 */
#include "conformance/ipc/peer.h"

#include "os/eventfd.h"
#include "os/shared_memory.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

/* Where a client dies. */
enum step {
	STEP_CONNECTED,
	STEP_GREETED,
	STEP_WELCOMED,
	STEP_READY,
	STEP_OPENED,
	STEP_PUT,       /* a request is put, and not published       */
	STEP_PUBLISHED, /* requests are published, perhaps not taken */
	STEP_RUNNING,   /* its request runs                          */
	STEP_ANSWERED,  /* answers are there, not collected          */
	STEP_SEGMENT,   /* with a segment                            */
	STEP_PARKED,    /* while it sleeps for an answer             */
	NR_STEPS,
};

struct victim {
	int pid;
	int go;    /* the path of the socket, and then the word to die */
	int ready; /* the victim is at its step                         */
};

static void tell(int fd)
{
	CHECK_EQ(write(fd, "x", 1), 1);
}

static void hear(int fd)
{
	char byte;
	ssize_t nr;

	EVENTUALLY((nr = read(fd, &byte, 1)) != -1 || errno != EAGAIN);
	CHECK_EQ(nr, 1);
}

/* In the victim: waits as long as it must. */
static void await_word(int fd, void *data, size_t size)
{
	if (read(fd, data, size) <= 0)
		_exit(1);
}

static void die(const struct victim *v)
{
	char byte;

	tell(v->ready);
	await_word(v->go, &byte, 1);
	kill(getpid(), SIGKILL);
}

/* A request that nobody ever ends. */
static struct sley_event never, *never_event = &never;

static void live(const struct victim *v, const char *path, enum step step)
{
	struct wire_head head = { .method = PROBE_WAIT, .out_room = 64 };
	struct wire_packet packet;
	struct peer peer = { .socket = peer_connect(path) };
	uint64_t size;
	void *memory;

	if (step == STEP_CONNECTED)
		die(v);
	packet_hello(&packet, "victim", 0, 0, false);
	peer_send(&peer, &packet, NULL, 0);
	if (step == STEP_GREETED)
		die(v);
	os_close(peer.socket);
	peer_greet(&peer, path, 64, 1024);
	if (step == STEP_WELCOMED)
		die(v);
	peer_begin(&peer);
	if (step == STEP_READY)
		die(v);
	CHECK_EQ(peer_open(&peer, "p", "", &head.pool), 0);
	if (step == STEP_OPENED)
		die(v);
	if (step == STEP_SEGMENT) {
		(void)!peer_segment(&peer, 1 << 20, &memory, &size);
		die(v);
	}
	if (step == STEP_ANSWERED) {
		head.method = PROBE_ECHO;
		for (int i = 0; i < 40; i++)
			peer_put(&peer, &head, "x", 1);
		peer_publish(&peer);
		EVENTUALLY(count_word_count(count_word_load(
				   &peer.ring.memory->completed)) >= 41);
		die(v);
	}
	for (int i = 0; i < 40; i++)
		peer_put(&peer, &head, &never_event, sizeof(never_event));
	if (step == STEP_PUT)
		die(v);
	peer_publish(&peer);
	if (step == STEP_PUBLISHED)
		kill(getpid(), SIGKILL);
	if (step == STEP_RUNNING)
		die(v);
	tell(v->ready);
	(void)!entry_ring_await(&peer.ring.memory->completed,
				entry_ring_seen(&peer.submitter->completions),
				0, UINT64_MAX);
}

static struct victim start_victim(enum step step)
{
	int go[2], ready[2];
	struct victim v;
	char path[80] = "";

	CHECK_EQ(pipe2(go, O_CLOEXEC), 0);
	CHECK_EQ(pipe2(ready, O_CLOEXEC), 0);
	v.pid = fork();
	v.go = v.pid ? go[1] : go[0];
	v.ready = v.pid ? ready[0] : ready[1];
	os_close(v.pid ? go[0] : go[1]);
	os_close(v.pid ? ready[1] : ready[0]);
	if (v.pid == 0) {
		await_word(v.go, path, sizeof(path));
		live(&v, path, step);
		_exit(0);
	}
	CHECK_EQ(fcntl(v.ready, F_SETFL, O_NONBLOCK), 0);
	return v;
}

static void send_path(const struct victim *v, const struct serving *s)
{
	char path[80] = "";

	memcpy(path, s->path, sizeof(path));
	CHECK_EQ(write(v->go, path, sizeof(path)), (ssize_t)sizeof(path));
}

static void bury(const struct victim *v)
{
	int status;

	EVENTUALLY(waitpid(v->pid, &status, WNOHANG) == v->pid);
	CHECK(WIFSIGNALED(status));
	os_close(v->go);
	os_close(v->ready);
}

static void kill_at(enum step step)
{
	struct victim v = start_victim(step);
	int before = atomic_load(&probe_counts.running);
	struct serving s;
	struct peer other;
	struct wire_head head = { .method = PROBE_ECHO, .out_room = 64 };

	sley_event_init(&never, false, false);
	s = serving_start("none", NULL);
	peer_join(&other, s.path);
	CHECK_EQ(peer_open(&other, "p", "", &head.pool), 0);
	send_path(&v, &s);
	if (step != STEP_PUBLISHED)
		hear(v.ready);
	if (step == STEP_RUNNING)
		EVENTUALLY(atomic_load(&probe_counts.running) == before + 40);
	if (step == STEP_PARKED)
		kill(v.pid, SIGKILL);
	else if (step != STEP_PUBLISHED)
		tell(v.go);
	bury(&v);
	/* Everything of the dead client is given back; others are served. */
	EVENTUALLY(serving_stats(&s).nr_clients == 1);
	CHECK_EQ(serving_stats(&s).nr_in_flight, 0);
	CHECK_EQ(serving_stats(&s).segment_bytes, 0);
	CHECK_EQ(serving_stats(&s).nr_ejected, 0);
	CHECK_EQ(atomic_load(&probe_counts.running), before);
	CHECK_EQ(peer_call(&other, &head, "x", 1).code, 0);
	peer_leave(&other);
	serving_stop(&s);
}

TEST_WORKERS(rc7_a_client_dies_after_connecting)
{
	kill_at(STEP_CONNECTED);
}

TEST_WORKERS(rc7_a_client_dies_after_its_hello)
{
	kill_at(STEP_GREETED);
}

TEST_WORKERS(rc7_a_client_dies_after_the_welcome)
{
	kill_at(STEP_WELCOMED);
}

TEST_WORKERS(rc7_a_client_dies_when_it_is_ready)
{
	kill_at(STEP_READY);
}

TEST_WORKERS(rc7_a_client_dies_with_an_open_pool)
{
	kill_at(STEP_OPENED);
}

TEST_WORKERS(rc7_a_client_dies_before_it_publishes)
{
	kill_at(STEP_PUT);
}

TEST_WORKERS(rc7_a_client_dies_after_it_has_published)
{
	kill_at(STEP_PUBLISHED);
}

TEST_WORKERS(rc7_a_client_dies_while_its_requests_run)
{
	kill_at(STEP_RUNNING);
}

TEST_WORKERS(rc7_a_client_dies_with_answers_that_it_did_not_collect)
{
	kill_at(STEP_ANSWERED);
}

TEST_WORKERS(c40_the_segments_of_a_dead_client_are_dropped)
{
	kill_at(STEP_SEGMENT);
}

TEST_WORKERS(rc7_a_client_dies_while_it_sleeps_for_an_answer)
{
	kill_at(STEP_PARKED);
}

/* ---- whose death it is ------------------------------------------------------------------- */

/*
 * The dead client has left a child that holds the socket, so the connection stands; and
 * the child may even get the pid of the dead.  The descriptor of the process says it.
 */
TEST_WORKERS(c40_the_death_of_a_client_is_told_by_the_kernel_and_not_by_its_pid)
{
	int child_pipe[2], path_pipe[2], pid;
	struct serving s;
	char path[80] = "", byte;

	CHECK_EQ(pipe2(child_pipe, O_CLOEXEC), 0);
	CHECK_EQ(pipe2(path_pipe, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		struct peer peer;
		uint32_t pool;

		await_word(path_pipe[0], path, sizeof(path));
		peer_join(&peer, path);
		CHECK_EQ(peer_open(&peer, "p", "", &pool), 0);
		os_close(child_pipe[1]);
		if (fork() == 0) {
			/* Until the test ends. */
			(void)!read(child_pipe[0], &byte, 1);
			_exit(0);
		}
		kill(getpid(), SIGKILL);
	}
	os_close(child_pipe[0]);
	os_close(path_pipe[0]);
	s = serving_start("none", NULL);
	memcpy(path, s.path, sizeof(path));
	CHECK_EQ(write(path_pipe[1], path, sizeof(path)),
		 (ssize_t)sizeof(path));
	EVENTUALLY(waitpid(pid, NULL, WNOHANG) == pid);
	EVENTUALLY(serving_stats(&s).nr_clients == 0);
	CHECK_EQ(serving_stats(&s).nr_accepted, 1);
	serving_stop(&s);
	os_close(child_pipe[1]);
	os_close(path_pipe[1]);
}

/* What a client has published and forgotten is run, also if it was not taken yet. */
TEST_WORKERS(rc7_forgotten_requests_of_a_dead_client_are_run)
{
	struct serving s = serving_start(
		"none", SLEY_SERVER_OPTIONS(.max_requests_per_user = 1));
	struct sley_event held, *event = &held;
	struct wire_head wait = { .method = PROBE_WAIT };
	struct wire_head forget = { .method = PROBE_COUNT,
				    .flags = WIRE_FORGOTTEN };
	int before = atomic_load(&probe_counts.begun);
	struct peer holder, dead;

	sley_event_init(&held, false, false);
	peer_join(&holder, s.path);
	CHECK_EQ(peer_open(&holder, "p", "", &wait.pool), 0);
	peer_join(&dead, s.path);
	CHECK_EQ(peer_open(&dead, "p", "", &forget.pool), 0);
	/* The quota is used up: nothing more is taken. */
	peer_put(&holder, &wait, &event, sizeof(event));
	peer_publish(&holder);
	EVENTUALLY(atomic_load(&probe_counts.begun) == before + 1);
	for (int i = 0; i < 40; i++)
		peer_put(&dead, &forget, NULL, 0);
	peer_publish(&dead);
	peer_leave(&dead);
	sley_event_set(&held);
	EVENTUALLY(serving_stats(&s).nr_clients == 1);
	CHECK_EQ(atomic_load(&probe_counts.begun), before + 41);
	CHECK_EQ(peer_collect(&holder).code, 0);
	peer_leave(&holder);
	serving_stop(&s);
}

/*
 * Within 10 ms: the kernel tells, nobody polls.  A worker of a busy machine may wake up later,
 * but one that polls is late each time.
 */
TEST(c40_a_dead_client_is_noticed_soon)
{
	enum { ROUNDS = 21 };
	struct serving s = serving_of(routing_of(2, "none"), NULL);
	uint64_t ns[ROUNDS];
	int nr_fast = 0;

	for (int i = 0; i < ROUNDS; i++) {
		struct peer peer;
		uint64_t begin;
		uint32_t pool;

		peer_join(&peer, s.path);
		CHECK_EQ(peer_open(&peer, "p", "", &pool), 0);
		begin = test_now_ns();
		peer_leave(&peer);
		while (serving_stats(&s).nr_clients)
			(void)!sley_sleep(100000);
		ns[i] = test_now_ns() - begin;
		nr_fast += ns[i] < 10000000;
	}
	if (!test_is_slow())
		CHECK_GE(nr_fast, 3);
	serving_stop(&s);
}
