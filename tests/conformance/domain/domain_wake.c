/* SPDX-License-Identifier: MIT */
/*
 * domain_wake.c - tasks that another process of the domain wakes, by what it was told; and
 * members that guess, flood, speak nonsense, leave or die.
 */
#include "conformance/domain/stage.h"

#include "domain/doorbell.h"
#include "os/seqpacket.h"
#include "os/shared_memory.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define NR_SLEEPERS 2

/* Between this process and its actors. */
struct board {
	/* What an actor rings with. */
	struct sley_domain_waker waker;
	/* Of the tasks of an actor. */
	struct sley_domain_waker of[NR_SLEEPERS];
	atomic_int result[NR_SLEEPERS]; /* of sley_suspend(); 1: it sleeps    */
	uint32_t nr_sleepers;
};

static struct board *board;

/* ---- the lessons of the actors ------------------------------------------------------- */

enum {
	RING = 'R',  /* sley_domain_wake() with board->waker                 */
	FLOOD = 'F', /* rings until that fails                               */
	SLEEP = 'S', /* a task, whose waker is shared on the board           */
};

/* A member that has come a moment ago may not be known yet. */
static int ring(struct sley *rt, const struct sley_domain_waker *waker)
{
	int err;

	CHECK_EVENTUALLY((err = sley_domain_wake(rt, waker)) != -EAGAIN);
	return err;
}

static int flood(struct sley *rt)
{
	int err;

	do
		err = sley_domain_wake(rt, &board->waker);
	while (!err);
	return err;
}

static void sleep_on_board(void *arg)
{
	uint32_t i = board->nr_sleepers++;
	struct sley_waker waker;

	CHECK_EQ(sley_waker_self(&waker), 0);
	CHECK_EQ(sley_domain_share_waker(arg, waker.id, &board->of[i]), 0);
	atomic_store(&board->result[i], 1);
	atomic_store(&board->result[i], sley_suspend());
}

static int start_sleeper(struct sley *rt)
{
	uint32_t i = board->nr_sleepers;

	CHECK_EQ(sley_schedule_on(rt, sleep_on_board, rt, NULL), 0);
	CHECK_EVENTUALLY(atomic_load(&board->result[i]) == 1);
	return 0;
}

static int learn(struct sley *rt, char what)
{
	switch (what) {
	case RING:
		return ring(rt, &board->waker);
	case FLOOD:
		return flood(rt);
	default:
		return start_sleeper(rt);
	}
}

/* ---- this process --------------------------------------------------------------------- */

/* A place, a board, and @nr actors. */
static const char *begin(struct actor *actor, uint32_t nr)
{
	const char *path = stage_open();

	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(board != MAP_FAILED);
	actors_learn(learn);
	for (uint32_t i = 0; i < nr; i++)
		actor_start(&actor[i]);
	return path;
}

static void end(struct sley_domain_host *host)
{
	sley_domain_host_destroy(host);
	CHECK_EQ(munmap(board, sizeof(*board)), 0);
	stage_close();
}

static atomic_uint nr_ran;

struct sleeper {
	struct sley_task task;
	struct sley_waker waker;
	atomic_bool began;
	int result;
	unsigned int order;
};

static void sleep_once(void *arg)
{
	struct sleeper *s = arg;

	atomic_store(&s->began, true);
	s->result = sley_suspend();
	s->order = atomic_fetch_add(&nr_ran, 1);
}

static void run_once(void *arg)
{
	struct sleeper *s = arg;

	s->order = atomic_fetch_add(&nr_ran, 1);
}

static void spawn_sleeper(struct sley_group *group, struct sleeper *s)
{
	s->result = 1;
	atomic_init(&s->began, false);
	CHECK_EQ(sley_spawn_with(group, &s->task, sleep_once, s,
				 SLEY_OPTIONS(.waker = &s->waker)),
		 0);
}

/* The task of @s, on the board for an actor. */
static void share(struct sley *rt, const struct sleeper *s)
{
	CHECK_EQ(sley_domain_share_waker(rt, s->waker.id, &board->waker), 0);
}

/* ---- waking --------------------------------------------------------------------------- */

TEST_WORKERS(u10_a_task_is_woken_by_another_process_of_its_domain)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_domain_host *host;
	struct actor ringer;
	const char *path;
	struct sleeper s;
	struct sley *rt;

	need_workers(1);
	path = begin(&ringer, 1);
	host = host_start();
	rt = start();
	CHECK_EQ(sley_domain_join(rt, path), 0);
	CHECK_EQ(actor_do(&ringer, ACTOR_JOIN), 0);
	for (int round = 1; round <= 20; round++) {
		spawn_sleeper(&group, &s);
		share(rt, &s);
		CHECK_EQ(actor_do(&ringer, RING), 0);
		sley_join(&group);
		CHECK_EQ(s.result, 0);
		CHECK_EVENTUALLY(info_of(rt).woken == (uint64_t)round);
	}
	actor_end(&ringer);
	stop(rt);
	end(host);
}

/* All workers are held, each by a task that does not look up. */
struct crowd {
	struct gate gate;
	struct sley_task holder[64];
	struct sleeper ready[3];
};

static void hold_all(struct sley_group *group, struct crowd *crowd)
{
	for (int i = 0; i < nr_runners(); i++)
		sley_spawn(group, &crowd->holder[i], gate_task, &crowd->gate);
	CHECK_EVENTUALLY(atomic_load(&crowd->gate.held) == nr_runners());
	for (size_t i = 0; i < ARRAY_SIZE(crowd->ready); i++)
		sley_spawn(group, &crowd->ready[i].task, run_once,
			   &crowd->ready[i]);
}

TEST_WORKERS(u12_a_wake_by_number_from_another_process_is_heard_by_busy_workers)
{
	static struct crowd crowd;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_domain_host *host;
	struct actor ringer;
	const char *path;
	struct sleeper s;
	struct sley *rt;

	need_workers(1);
	path = begin(&ringer, 1);
	host = host_start_with((struct sley_domain_host_options){
		.nr_cores = (uint32_t)nr_runners() + 2 });
	rt = start();
	spawn_sleeper(&group, &s);
	/* By its number; it may not have begun. */
	CHECK_EQ(sley_set_priority_id(s.waker.id, -4), 0);
	CHECK_EVENTUALLY(atomic_load(&s.began));
	CHECK_EQ(sley_domain_join(rt, path), 0);
	share(rt, &s);
	CHECK_EQ(actor_do(&ringer, ACTOR_JOIN), 0);
	hold_all(&group, &crowd);
	CHECK_EQ(actor_do(&ringer, RING), 0);
	/* Nobody but the attendant can hear it. */
	CHECK_EVENTUALLY(info_of(rt).woken == 1);
	CHECK_EQ(atomic_load(&nr_ran), 0);
	gate_open(&crowd.gate);
	sley_join(&group);
	CHECK_EQ(s.result, 0);
	if (nr_runners() == 1)
		CHECK_EQ(s.order, 0);
	actor_end(&ringer);
	stop(rt);
	end(host);
}

static void wake_own(struct sley *rt)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_domain_waker waker, forged;
	struct sleeper s;

	spawn_sleeper(&group, &s);
	CHECK_EQ(sley_domain_share_waker(rt, s.waker.id, &waker), 0);
	forged = waker;
	forged.token++;
	CHECK_EQ(sley_domain_wake(rt, &forged), -ESRCH);
	CHECK_EQ(sley_domain_wake(rt, &waker), 0);
	sley_join(&group);
	CHECK_EQ(s.result, 0);
	CHECK_EQ(sley_domain_wake(rt, &waker), -ESRCH);
	CHECK_EQ(sley_domain_share_waker(rt, s.waker.id, &waker), -ESRCH);
}

TEST(u10_a_member_wakes_its_own_tasks_in_the_same_way)
{
	const char *path = stage_open();
	struct sley_domain_host *host = host_start();
	struct sley *rt = start();
	struct sley_domain_info info;

	CHECK_EQ(sley_domain_join(rt, path), 0);
	wake_own(rt);
	info = info_of(rt);
	CHECK_EQ(info.rung, 3);
	CHECK_EQ(info.woken, 1);
	CHECK_EQ(info.stale, 1);
	CHECK_EQ(info.forged, 1);
	stop(rt);
	sley_domain_host_destroy(host);
	stage_close();
}

TEST(u10_two_runtimes_of_a_process_wake_each_other)
{
	const char *path = stage_open();
	struct sley_domain_host *host = host_start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_domain_waker waker;
	struct sley *rt = start(), *other;
	struct sleeper s;

	CHECK_EQ(sley_create(&other, test_config()), 0);
	CHECK_EQ(sley_domain_join(rt, path), 0);
	CHECK_EQ(sley_domain_join(other, path), 0);
	spawn_sleeper(&group, &s);
	CHECK_EQ(sley_domain_share_waker(rt, s.waker.id, &waker), 0);
	CHECK_EQ(ring(other, &waker), 0);
	sley_join(&group);
	CHECK_EQ(s.result, 0);
	CHECK_EQ(info_of(other).rung, 1);
	CHECK_EVENTUALLY(info_of(rt).woken == 1);
	CHECK_EQ(sley_destroy(other), 0);
	stop(rt);
	sley_domain_host_destroy(host);
	stage_close();
}

/* ---- what is refused ------------------------------------------------------------------- */

TEST(u10_a_stale_waker_of_another_process_is_refused)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_domain_host *host;
	struct sleeper ended, next;
	struct actor ringer;
	const char *path;
	struct sley *rt;

	path = begin(&ringer, 1);
	host = host_start();
	rt = start();
	CHECK_EQ(sley_domain_join(rt, path), 0);
	CHECK_EQ(actor_do(&ringer, ACTOR_JOIN), 0);
	spawn_sleeper(&group, &ended);
	share(rt, &ended);
	CHECK_EQ(sley_wake(&ended.waker), 0);
	sley_join(&group);
	/* Perhaps in the slot of the one that has ended. */
	spawn_sleeper(&group, &next);
	CHECK_EQ(actor_do(&ringer, RING), 0);
	CHECK_EVENTUALLY(info_of(rt).stale == 1);
	CHECK_EQ(info_of(rt).woken, 0);
	CHECK_EQ(next.result, 1);
	CHECK_EQ(sley_wake(&next.waker), 0);
	sley_join(&group);
	actor_end(&ringer);
	stop(rt);
	end(host);
}

TEST(u10_a_forged_token_is_refused_and_many_cut_the_line)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_domain_host *host;
	struct actor ringer[2];
	const char *path;
	struct sleeper s;
	struct sley *rt;

	path = begin(ringer, 2);
	host = host_start();
	rt = start();
	CHECK_EQ(sley_domain_join(rt, path), 0);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(actor_do(&ringer[i], ACTOR_JOIN), 0);
	spawn_sleeper(&group, &s);
	share(rt, &s);
	for (uint64_t i = 1; i <= DOORBELL_FORGED_MAX; i++) {
		CHECK_EQ(info_of(rt).lines_cut, 0);
		board->waker.token++;
		CHECK_EQ(actor_do(&ringer[0], RING), 0);
		CHECK_EVENTUALLY(info_of(rt).forged == i);
	}
	CHECK_EVENTUALLY(info_of(rt).lines_cut == 1);
	/* From now on the right token does not help it; another member has a line. */
	share(rt, &s);
	CHECK_EQ(actor_do(&ringer[0], RING), -ENOLINK);
	CHECK_EQ(info_of(rt).woken, 0);
	CHECK_EQ(actor_do(&ringer[1], RING), 0);
	sley_join(&group);
	CHECK_EQ(s.result, 0);
	CHECK_EVENTUALLY(info_of(rt).woken == 1);
	for (int i = 0; i < 2; i++)
		actor_end(&ringer[i]);
	stop(rt);
	end(host);
}

TEST(u10_a_program_outside_of_the_domain_neither_shares_nor_wakes)
{
	const struct sley_domain_waker none = { .id = 1, .generation = 1 };
	const char *path = stage_open();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_domain_host *host = host_start();
	struct sley_domain_waker waker;
	struct sley *rt = start();
	struct sleeper s;
	int pid, status;

	spawn_sleeper(&group, &s);
	CHECK_EQ(sley_domain_wake(rt, &none), -ENOTCONN);
	CHECK_EQ(sley_domain_share_waker(rt, s.waker.id, &waker), -ENOTCONN);
	CHECK_EQ(sley_domain_join(rt, path), 0);
	CHECK_EQ(sley_domain_share_waker(rt, 1, &waker), -ESRCH);
	CHECK_EQ(sley_domain_share_waker(rt, s.waker.id, &waker), 0);
	pid = fork();
	if (!pid) {
		CHECK_EQ(sley_domain_wake(rt, &waker), SLEY_EFORKED);
		CHECK_EQ(sley_domain_share_waker(rt, s.waker.id, &waker),
			 SLEY_EFORKED);
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	CHECK_EQ(sley_domain_leave(rt), 0);
	CHECK_EQ(sley_domain_wake(rt, &waker), -ENOTCONN);
	/* As another member: the number is the same, the membership is not. */
	CHECK_EQ(sley_domain_join(rt, path), 0);
	CHECK_EQ(sley_domain_wake(rt, &waker), -ESRCH);
	waker.member = UINT32_MAX;
	CHECK_EQ(sley_domain_wake(rt, &waker), -ESRCH);
	CHECK_EQ(s.result, 1);
	CHECK_EQ(sley_wake(&s.waker), 0);
	sley_join(&group);
	stop(rt);
	sley_domain_host_destroy(host);
	stage_close();
}

/* ---- members that leave or die ----------------------------------------------------------- */

/* Until the host has heard of the end, the line alone says that nobody hears. */
static bool is_gone(struct sley *rt, const struct sley_domain_waker *waker)
{
	int err = sley_domain_wake(rt, waker);

	CHECK(!err || err == -ENOLINK || err == -ESRCH);
	return err == -ESRCH;
}

TEST(u10_a_wake_of_a_dead_member_fails)
{
	struct sley_domain_host *host;
	struct sley_domain_waker waker;
	struct actor actor[2];
	const char *path;
	struct sley *rt;

	path = begin(actor, 2);
	host = host_start();
	rt = start();
	CHECK_EQ(sley_domain_join(rt, path), 0);
	CHECK_EQ(actor_do(&actor[0], ACTOR_JOIN), 0);
	CHECK_EQ(actor_do(&actor[0], SLEEP), 0);
	waker = board->of[0];
	actor_kill(&actor[0]);
	CHECK_EVENTUALLY(is_gone(rt, &waker));
	CHECK_EQ(actor_do(&actor[1], ACTOR_JOIN), 0);
	CHECK_EQ(actor_do(&actor[1], SLEEP), 0);
	/* Also when the next member has its number. */
	waker.member = board->of[1].member;
	CHECK_EQ(sley_domain_wake(rt, &waker), -ESRCH);
	CHECK_EQ(ring(rt, &board->of[1]), 0);
	CHECK_EVENTUALLY(atomic_load(&board->result[1]) == 0);
	actor_end(&actor[1]);
	stop(rt);
	end(host);
}

TEST(u10_a_wake_is_heard_although_its_ringer_leaves)
{
	struct sley_domain_host *host;
	struct actor ringer;
	const char *path;
	struct sley *rt;

	path = begin(&ringer, 1);
	host = host_start();
	rt = start();
	CHECK_EQ(sley_domain_join(rt, path), 0);
	for (uint64_t round = 1; round <= 50; round++) {
		struct sley_group group = SLEY_GROUP_INIT;
		struct sleeper s;

		CHECK_EQ(actor_do(&ringer, ACTOR_JOIN), 0);
		spawn_sleeper(&group, &s);
		share(rt, &s);
		CHECK_EQ(actor_do(&ringer, RING), 0);
		CHECK_EQ(actor_do(&ringer, ACTOR_LEAVE), 0);
		sley_join(&group);
		CHECK_EQ(s.result, 0);
	}
	actor_end(&ringer);
	stop(rt);
	end(host);
}

TEST(u10_wakers_end_with_their_host_and_are_shared_anew)
{
	struct sley_domain_waker waker;
	struct actor actor[3]; /* two hosts, and a member */
	const char *path;
	struct sley *rt;

	path = begin(actor, 3);
	rt = start();
	CHECK_EQ(actor_do(&actor[0], ACTOR_HOST), 0);
	CHECK_EQ(sley_domain_join(rt, path), 0);
	CHECK_EQ(actor_do(&actor[2], ACTOR_JOIN), 0);
	CHECK_EQ(actor_do(&actor[2], SLEEP), 0);
	waker = board->of[0];
	actor_kill(&actor[0]);
	CHECK_EVENTUALLY(info_of(rt).state == SLEY_DOMAIN_ALONE);
	CHECK_EQ(sley_domain_wake(rt, &waker), -ENOTCONN);
	CHECK_EQ(actor_do(&actor[1], ACTOR_HOST), 0);
	/* Each has seen the end of the first host by then. */
	CHECK_EVENTUALLY(nr_members() == 2);
	CHECK_EVENTUALLY(info_of(rt).state == SLEY_DOMAIN_IN);
	CHECK_EVENTUALLY(actor_do(&actor[2], ACTOR_STATE) == SLEY_DOMAIN_IN);
	CHECK_EQ(sley_domain_wake(rt, &waker), -ESRCH);
	CHECK_EQ(actor_do(&actor[2], SLEEP), 0);
	CHECK_EQ(ring(rt, &board->of[1]), 0);
	CHECK_EVENTUALLY(atomic_load(&board->result[1]) == 0);
	CHECK_EQ(atomic_load(&board->result[0]), 1);
	stop(rt);
	for (int i = 1; i < 3; i++)
		actor_kill(&actor[i]);
	end(NULL);
}

/* ---- members that do harm ---------------------------------------------------------------- */

TEST(u10_a_flood_fills_its_own_line_and_no_other)
{
	struct sley_domain_host *host;
	struct actor actor[2]; /* the receiver, and the flooder */
	const char *path;
	struct sley *rt;

	path = begin(actor, 2);
	host = host_start();
	rt = start();
	CHECK_EQ(sley_domain_join(rt, path), 0);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(actor_do(&actor[i], ACTOR_JOIN), 0);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(actor_do(&actor[0], SLEEP), 0);
	CHECK_EQ(ring(rt, &board->of[0]), 0);
	CHECK_EVENTUALLY(atomic_load(&board->result[0]) == 0);
	actor_signal(&actor[0], SIGSTOP);
	board->waker = board->of[0];
	CHECK_EQ(actor_do(&actor[1], FLOOD), -EAGAIN);
	CHECK_EQ(sley_domain_wake(rt, &board->of[1]), 0);
	actor_signal(&actor[0], SIGCONT);
	CHECK_EVENTUALLY(atomic_load(&board->result[1]) == 0);
	for (int i = 0; i < 2; i++)
		actor_end(&actor[i]);
	stop(rt);
	end(host);
}

/* A member by hand, and what it has to wake others with. */
struct stranger {
	struct member_guest guest;
	struct sley_domain_waker at; /* its own place, with no task           */
	int line;
};

/* Its only peer is @rt. */
static void join_by_hand(struct stranger *stranger, uint16_t minor)
{
	int fd = page_make(&stranger->guest.page);
	struct domain_packet packet;

	domain_packet_hello(&packet, "stranger", 1);
	packet.minor = minor;
	stranger->guest.socket = guest_connect();
	guest_send(stranger->guest.socket, &packet, sizeof(packet), fd);
	os_close(fd);
	CHECK_EQ(guest_hear(stranger->guest.socket, &packet), DOMAIN_WELCOME);
	stranger->at = (struct sley_domain_waker){
		.id = 1,
		.member = packet.index,
		.generation = packet.generation,
	};
	CHECK_EQ(guest_hear_line(stranger->guest.socket, &packet,
				 &stranger->line),
		 DOMAIN_PEER);
}

static void leave_by_hand(struct stranger *stranger)
{
	guest_leave(&stranger->guest);
	os_close(stranger->line);
}

static struct sley *start_member(const char *path)
{
	struct sley *rt = start();

	CHECK_EQ(sley_domain_join(rt, path), 0);
	return rt;
}

TEST(u10_a_member_that_does_not_read_makes_nobody_wait)
{
	const char *path = stage_open();
	struct sley_domain_host *host = host_start();
	struct sley *rt = start_member(path);
	struct stranger stranger;
	uint64_t nr;
	int err;

	join_by_hand(&stranger, DOMAIN_MINOR);
	CHECK_EQ(ring(rt, &stranger.at), 0);
	/* A line that waits where it can. */
	CHECK_EQ(fcntl(stranger.line, F_SETFL, 0), 0);
	do
		err = sley_domain_wake(rt, &stranger.at);
	while (!err);
	CHECK_EQ(err, -EAGAIN);
	nr = info_of(rt).rung;
	CHECK_GT(nr, DOORBELL_BATCH);
	CHECK_EQ(sley_domain_wake(rt, &stranger.at), -EAGAIN);
	CHECK_EQ(info_of(rt).rung, nr);
	/* It closes the line, and stays a member; the host may have to close it, too. */
	os_close(stranger.line);
	stranger.line = -1;
	CHECK_EVENTUALLY(sley_domain_wake(rt, &stranger.at) == -ENOLINK);
	CHECK_EQ(info_of(rt).nr_members, 2);
	leave_by_hand(&stranger);
	CHECK_EVENTUALLY(is_gone(rt, &stranger.at));
	stop(rt);
	sley_domain_host_destroy(host);
	stage_close();
}

TEST(u10_nonsense_on_a_line_cuts_it_and_costs_nothing_else)
{
	const char *path = stage_open();
	struct sley_domain_host *host = host_start();
	struct sley *rt = start_member(path);
	struct stranger stranger;
	char nonsense[24] = { 0 };
	int pipe_end[2];

	join_by_hand(&stranger, DOMAIN_MINOR);
	CHECK_EQ(ring(rt, &stranger.at), 0);
	/* And a descriptor, which is closed. */
	CHECK_EQ(pipe(pipe_end), 0);
	CHECK_EQ(os_seqpacket_send(stranger.line, nonsense, sizeof(nonsense),
				   &pipe_end[1], 1),
		 0);
	os_close(pipe_end[1]);
	CHECK_EQ(read(pipe_end[0], nonsense, 1), 0);
	os_close(pipe_end[0]);
	CHECK_EVENTUALLY(info_of(rt).lines_cut == 1);
	CHECK_EQ(sley_domain_wake(rt, &stranger.at), -ENOLINK);
	CHECK_EQ(info_of(rt).state, SLEY_DOMAIN_IN);
	CHECK_EQ(info_of(rt).nr_members, 2);
	wake_own(rt);
	leave_by_hand(&stranger);
	stop(rt);
	sley_domain_host_destroy(host);
	stage_close();
}

TEST(u10_a_member_of_an_older_library_has_no_line)
{
	const char *path = stage_open();
	struct sley_domain_host *host = host_start();
	struct sley *rt = start_member(path);
	struct stranger stranger;

	join_by_hand(&stranger, DOMAIN_MINOR_LINES - 1);
	CHECK_EQ(stranger.line, -1);
	CHECK_EVENTUALLY(sley_domain_wake(rt, &stranger.at) == -ENOLINK);
	leave_by_hand(&stranger);
	CHECK_EVENTUALLY(is_gone(rt, &stranger.at));
	stop(rt);
	sley_domain_host_destroy(host);
	stage_close();
}
