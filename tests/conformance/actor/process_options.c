/* SPDX-License-Identifier: MIT */
/*
 * process_options.c - how processes are started: W37, W38; and where: W46.
 */
#include "conformance/actor/listener.h"

/* Counts what it gets, until it is told to stop. */
struct tally {
	atomic_int got;
	atomic_int downs;
	sley_pid child;
	uint64_t number;
};

static int count(void *arg)
{
	struct tally *tally = arg;
	struct sley_msg *msg;

	while (sley_receive(&msg) == 0)
		atomic_fetch_add(&tally->got, 1);
	return 0;
}

/* ---- W37 ---------------------------------------------------------------------- */

/* Spawn it, or tell who has its name: @expected is 0 or -EEXIST. */
static sley_pid spawn_or_signal(struct tally *tally, int expected)
{
	sley_pid pid;

	CHECK_EQ(sley_actor_spawn(&pid, count, tally,
				  SLEY_PROCESS_OPTIONS(.name = "the one")),
		 expected);
	CHECK_EQ(sley_send(pid, 0, NULL, 0), 0);
	return pid;
}

TEST_WORKERS(w37_a_name_that_is_taken_leads_to_its_owner)
{
	struct sley *rt = start();
	struct tally tally = { 0 }, unused = { 0 };
	sley_pid first = spawn_or_signal(&tally, 0);

	CHECK_EQ(spawn_or_signal(&unused, -EEXIST), first);
	CHECK_SOON(atomic_load(&tally.got) == 2);
	CHECK_EQ(atomic_load(&unused.got), 0);
	CHECK_EQ(sley_process_kill(first), 0);
	CHECK_SOON(!sley_process_alive(first));
	CHECK(sley_name_find("the one") == SLEY_NO_PID);
	stop(rt);
}

/* ---- W38 ---------------------------------------------------------------------- */

/* Spawns one that it is linked with and watches; traps; and has it killed. */
static int parent(void *arg)
{
	struct tally *tally = arg;
	struct sley_process_info info;
	struct sley_msg *msg;
	bool exit = false;

	CHECK_EQ(sley_actor_spawn(
			 &tally->child, count, tally,
			 SLEY_PROCESS_OPTIONS(.link = true, .label = "child",
					      .monitor = &tally->number)),
		 0);
	CHECK_EQ(sley_process_inspect(tally->child, &info), 0);
	CHECK_EQ(info.parent, sley_self());
	CHECK_EQ(info.links, 1);
	CHECK_EQ(info.monitors, 1);
	CHECK_EQ(sley_process_kill(tally->child), 0);
	while (!exit || !atomic_load(&tally->downs)) {
		CHECK_EQ(sley_receive(&msg), 0);
		CHECK_EQ(msg->from, tally->child);
		CHECK_EQ(msg->error, SLEY_EKILLED);
		if (msg->kind == SLEY_DOWN) {
			CHECK_EQ(msg->tag, tally->number);
			atomic_fetch_add(&tally->downs, 1);
		} else {
			CHECK_EQ(msg->kind, SLEY_EXIT);
			exit = true;
		}
	}
	return 0;
}

TEST_WORKERS(w38_a_child_is_linked_and_watched_from_the_start)
{
	struct sley *rt = start();
	struct tally tally = { 0 };
	sley_pid pid;

	CHECK_EQ(sley_actor_spawn(&pid, parent, &tally,
				  SLEY_PROCESS_OPTIONS(.traps = true)),
		 0);
	CHECK_SOON(!sley_process_alive(pid));
	CHECK_EQ(atomic_load(&tally.downs), 1);
	stop(rt);
}

TEST_WORKERS(w38_only_a_process_has_children_that_it_is_linked_with)
{
	struct sley *rt = start();
	struct tally tally = { 0 };
	uint64_t number;
	sley_pid pid;

	CHECK_EQ(sley_actor_spawn(&pid, count, &tally,
				  SLEY_PROCESS_OPTIONS(.link = true)),
		 -EINVAL);
	CHECK_EQ(sley_actor_spawn(&pid, count, &tally,
				  SLEY_PROCESS_OPTIONS(.monitor = &number)),
		 -EINVAL);
	stop(rt);
}

/* ---- W46 ---------------------------------------------------------------------- */

enum { NR_ROUNDS = 100 };

/* Plays ping-pong with one of another runtime, which is the second to play. */
struct player {
	struct sley *host;
	atomic_ullong peer;
	atomic_int got;
	struct sley_event over;
};

static int play(void *arg)
{
	struct player *player = arg;
	struct sley_msg *msg;
	int expected = player->peer ? 1 : 0;

	CHECK(sley_current() == player->host);
	if (player->peer)
		CHECK_EQ(sley_send(player->peer, 0, &(int){ 0 }, sizeof(int)),
			 0);
	for (; expected < 2 * NR_ROUNDS; expected += 2) {
		int n;

		CHECK_EQ(sley_receive(&msg), 0);
		CHECK(sley_current() == player->host);
		n = *(const int *)msg->data;
		CHECK_EQ(n, expected);
		CHECK(!player->peer || msg->from == player->peer);
		n++;
		player->got++;
		if (n < 2 * NR_ROUNDS)
			CHECK_EQ(sley_send(msg->from, 0, &n, sizeof(n)), 0);
	}
	sley_event_set(&player->over);
	/* Stays, for the limit of its host. */
	while (sley_receive(&msg) == 0)
		;
	return 0;
}

static void check_limits(struct sley *const *host)
{
	struct tally tally = { 0 };
	sley_pid pid;

	CHECK_EQ(sley_actor_spawn(&pid, count, &tally,
				  SLEY_PROCESS_OPTIONS(.runtime = host[0])),
		 -EAGAIN);
	CHECK_EQ(pid, SLEY_NO_PID);
	CHECK_EQ(sley_actor_spawn(&pid, count, &tally,
				  SLEY_PROCESS_OPTIONS(.runtime = host[1],
						       .joinable = true)),
		 0);
	CHECK_EQ(sley_process_kill(pid), 0);
	CHECK_EQ(sley_process_wait(pid, NULL), 0);
}

TEST(w46_runtimes_have_processes_of_their_own_and_talk)
{
	struct sley_config config = sley_config_default();
	struct player player[2] = { { .over = SLEY_EVENT_INIT },
				    { .over = SLEY_EVENT_INIT } };
	struct sley *host[2];
	sley_pid pid[2];

	config.workers = 1;
	for (int i = 0; i < 2; i++) {
		config.max_processes = i == 0 ? 1 : 0;
		CHECK_EQ(sley_create(&host[i], &config), 0);
		player[i].host = host[i];
		player[i].peer = i ? pid[0] : SLEY_NO_PID;
		CHECK_EQ(sley_actor_spawn(
				 &pid[i], play, &player[i],
				 SLEY_PROCESS_OPTIONS(.runtime = host[i])),
			 0);
	}
	for (int i = 0; i < 2; i++)
		CHECK_EQ(sley_event_wait(&player[i].over), 0);
	CHECK_EQ(player[0].got, NR_ROUNDS);
	CHECK_EQ(player[1].got, NR_ROUNDS);
	check_limits(host);
	/* The end of one host is that of its processes only. */
	CHECK_EQ(sley_destroy(host[0]), 0);
	CHECK(!sley_process_alive(pid[0]));
	CHECK(sley_process_alive(pid[1]));
	CHECK_EQ(sley_send(pid[1], 0, NULL, 0), 0);
	CHECK_EQ(sley_destroy(host[1]), 0);
	CHECK(!sley_process_alive(pid[1]));
}
