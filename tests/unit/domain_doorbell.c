/* SPDX-License-Identifier: MIT */
/*
 * domain_doorbell.c - tasks that another process wakes, and processes that ring too much,
 * or nonsense.
 */
#include "harness/test.h"

#include "domain/doorbell.h"

#include "base/atomic.h"
#include "os/eventfd.h"
#include "os/seqpacket.h"
#include "os/shared_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sley/sley.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define RINGER 3 /* the number of the ringer, and its generation */
#define OTHER 7
#define GENERATION 41

/* A doorbell with two lines, and the far ends of these. */
struct house {
	struct doorbell bell;
	int ringer, other;
};

static int add_line(struct doorbell *bell, uint32_t index)
{
	int fd[2];

	CHECK_EQ(os_seqpacket_pair(fd), 0);
	CHECK_EQ(doorbell_add(bell, index, GENERATION, fd[0]), 0);
	return fd[1];
}

static void begin(struct doorbell *bell)
{
	doorbell_init(bell);
	CHECK_EQ(doorbell_open(bell), 0);
}

static void build(struct house *house)
{
	begin(&house->bell);
	house->ringer = add_line(&house->bell, RINGER);
	house->other = add_line(&house->bell, OTHER);
}

static void leave(struct house *house)
{
	doorbell_close(&house->bell);
	os_close(house->ringer);
	os_close(house->other);
}

static void hear_all(struct house *house)
{
	while (doorbell_hear(&house->bell))
		;
}

static struct doorbell_counts counts_of(const struct house *house)
{
	struct doorbell_counts counts;

	doorbell_get_counts(&house->bell, &counts);
	return counts;
}

static bool has_line(struct house *house, uint32_t index)
{
	const struct doorbell_waker none = { 0 };

	return doorbell_ring(&house->bell, index, GENERATION, &none) == 0;
}

/* A ringer at the far end @fd, whose house is number 0 there. */
static void begin_ringer(struct doorbell *bell, int fd)
{
	begin(bell);
	CHECK_EQ(doorbell_add(bell, 0, GENERATION, dup(fd)), 0);
}

static int ring(struct doorbell *bell, const struct doorbell_waker *waker)
{
	return doorbell_ring(bell, 0, GENERATION, waker);
}

/* ---- two processes -------------------------------------------------------------- */

/* What a ringer of its own process is told. */
struct shared {
	struct doorbell_waker waker;
	uint32_t go; /* times to ring */
	uint32_t rung;
};

static struct shared *share(void)
{
	struct shared *shared = mmap(NULL, sizeof(*shared),
				     PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	CHECK(shared != MAP_FAILED);
	return shared;
}

/* In a process that has nothing of this one but the line and the numbers. */
static int start_ringer(struct house *house, struct shared *shared)
{
	struct doorbell bell;
	int pid = fork();

	CHECK_GE(pid, 0);
	if (pid)
		return pid;
	begin_ringer(&bell, house->ringer);
	for (;;) {
		if (load_acquire(&shared->go) == shared->rung) {
			test_nap_ms(1);
			continue;
		}
		CHECK_EQ(ring(&bell, &shared->waker), 0);
		store_release(&shared->rung, shared->rung + 1);
	}
}

static void end_ringer(int pid)
{
	CHECK_EQ(kill(pid, SIGKILL), 0);
	CHECK_EQ(waitpid(pid, NULL, 0), pid);
}

static void ring_from(struct shared *shared)
{
	store_release(&shared->go, shared->go + 1);
	CHECK_EVENTUALLY(load_acquire(&shared->rung) == shared->go);
}

struct sleeper {
	struct sley_task task;
	struct sley_waker waker;
	int result;
	uint32_t order;
};

static uint32_t nr_ran;

static void sleep_once(void *arg)
{
	struct sleeper *s = arg;

	s->result = sley_suspend();
	s->order = add_relaxed(&nr_ran, 1);
}

static struct sley *start(uint32_t workers)
{
	struct sley_config config = *test_config();
	struct sley *rt;

	config.workers = (int)workers;
	CHECK_EQ(sley_create(&rt, &config), 0);
	CHECK_EQ(sley_bind(rt), 0);
	return rt;
}

static void stop(struct sley *rt)
{
	sley_unbind(rt);
	CHECK_EQ(sley_destroy(rt), 0);
}

static void spawn_sleeper(struct sley_group *group, struct sleeper *s,
			  int priority)
{
	s->result = 1;
	CHECK_EQ(sley_spawn_with(group, &s->task, sleep_once, s,
				 SLEY_OPTIONS(.waker = &s->waker,
					      .priority = priority)),
		 0);
}

TEST(u10_a_task_is_woken_by_another_process)
{
	struct shared *shared = share();
	struct sley_group group = SLEY_GROUP_INIT;
	struct house house;
	struct sleeper s;
	struct sley *rt;
	int pid;

	build(&house);
	pid = start_ringer(&house, shared);
	rt = start(2);
	spawn_sleeper(&group, &s, 0);
	shared->waker = doorbell_share(s.waker.id);
	ring_from(shared);
	CHECK(os_fd_wait(doorbell_fd(&house.bell), 1 /* POLLIN */, -1,
			 UINT64_MAX));
	hear_all(&house);
	sley_join(&group);
	CHECK_EQ(s.result, 0);
	CHECK_EQ(counts_of(&house).woken, 1);
	/* The task has ended: the same numbers wake nobody. */
	ring_from(shared);
	hear_all(&house);
	CHECK_EQ(counts_of(&house).stale, 1);
	CHECK_EQ(counts_of(&house).woken, 1);
	CHECK(has_line(&house, RINGER));
	stop(rt);
	end_ringer(pid);
	leave(&house);
}

/* ---- at its own level ------------------------------------------------------------ */

struct queue {
	struct sleeper ready[3];
	struct sleeper woken;
	struct house *house;
	struct shared *shared;
};

static void run_once(void *arg)
{
	struct sleeper *s = arg;

	s->order = add_relaxed(&nr_ran, 1);
}

/* The only worker is here, and others wait for it. */
static void be_busy(void *arg)
{
	struct queue *queue = arg;

	ring_from(queue->shared);
	hear_all(queue->house);
	CHECK_EQ(counts_of(queue->house).woken, 1);
}

TEST(u13_a_task_that_another_process_wakes_goes_before_ready_tasks_of_its_process)
{
	struct queue queue = { .shared = share() };
	struct sley_group group = SLEY_GROUP_INIT, others = SLEY_GROUP_INIT;
	struct sley_task busy;
	struct house house;
	struct sley *rt;
	int pid;

	build(&house);
	queue.house = &house;
	pid = start_ringer(&house, queue.shared);
	rt = start(1);
	nr_ran = 0;
	spawn_sleeper(&group, &queue.woken, -4);
	queue.shared->waker = doorbell_share(queue.woken.waker.id);
	/* Behind the sleeper; it begins when the sleeper sleeps. */
	CHECK_EQ(sley_spawn_with(&others, &busy, be_busy, &queue,
				 SLEY_OPTIONS(.priority = -1)),
		 0);
	for (int i = 0; i < 3; i++)
		sley_spawn(&others, &queue.ready[i].task, run_once,
			   &queue.ready[i]);
	sley_join(&group);
	sley_join(&others);
	CHECK_EQ(queue.woken.order, 0);
	for (int i = 0; i < 3; i++)
		CHECK_GT(queue.ready[i].order, 0);
	stop(rt);
	end_ringer(pid);
	leave(&house);
}

/* ---- ringers that do not play by the rules ------------------------------------------- */

TEST(a_guessed_token_wakes_nobody_and_many_cut_the_line)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct doorbell_waker guess;
	struct doorbell bell;
	struct house house;
	struct sleeper s;
	struct sley *rt;

	build(&house);
	begin_ringer(&bell, house.ringer);
	rt = start(2);
	spawn_sleeper(&group, &s, 0);
	guess = doorbell_share(s.waker.id);
	for (int i = 1; i < DOORBELL_FORGED_MAX; i++) {
		guess.token++;
		CHECK_EQ(ring(&bell, &guess), 0);
		hear_all(&house);
		CHECK_EQ(counts_of(&house).forged, i);
	}
	CHECK(has_line(&house, RINGER));
	/* The token of another task is a guess, too. */
	guess = doorbell_share(s.waker.id + 1);
	guess.id = s.waker.id;
	CHECK_EQ(ring(&bell, &guess), 0);
	hear_all(&house);
	CHECK_EQ(counts_of(&house).woken, 0);
	CHECK_EQ(counts_of(&house).cut, 1);
	CHECK(!has_line(&house, RINGER));
	CHECK(has_line(&house, OTHER));
	CHECK_EQ(sley_wake(&s.waker), 0);
	sley_join(&group);
	stop(rt);
	doorbell_close(&bell);
	leave(&house);
}

static void send_garbage(const void *data, size_t size, const int *fds,
			 uint32_t nr_fds)
{
	struct house house;

	build(&house);
	CHECK_EQ(os_seqpacket_send(house.ringer, data, size, fds, nr_fds), 0);
	hear_all(&house);
	CHECK_EQ(counts_of(&house).garbage, 1);
	CHECK_EQ(counts_of(&house).cut, 1);
	CHECK(!has_line(&house, RINGER));
	CHECK(has_line(&house, OTHER));
	/* Nothing is left to hear: no loop of a thread that listens. */
	CHECK(!os_fd_is_readable(doorbell_fd(&house.bell)));
	leave(&house);
}

TEST(garbage_cuts_the_line)
{
	unsigned char bytes[256];
	int pipe_end[2];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)test_random(256);
	bytes[0] = 0; /* not the magic number, and nothing else is wrong */
	memset(&bytes[4], 0, 4);
	send_garbage(bytes, 24, NULL, 0);
	send_garbage(bytes, 1, NULL, 0);
	send_garbage(bytes, 23, NULL, 0);
	send_garbage(bytes, 25, NULL, 0);
	send_garbage(bytes, sizeof(bytes), NULL, 0);
	/* Descriptors are closed, so that the reader finds the end. */
	CHECK_EQ(pipe(pipe_end), 0);
	send_garbage(bytes, 24, &pipe_end[1], 1);
	os_close(pipe_end[1]);
	CHECK_EQ(read(pipe_end[0], bytes, 1), 0);
	os_close(pipe_end[0]);
}

TEST(a_flood_fills_its_own_line_and_stops_nobody)
{
	struct doorbell flooder, polite;
	struct doorbell_waker waker = doorbell_share(7ull << 32);
	struct house house;
	uint64_t heard;
	int err, nr = 0;

	build(&house);
	begin_ringer(&flooder, house.ringer);
	begin_ringer(&polite, house.other);
	/* Blocking descriptors, of which nobody reads: the ringer is told. */
	CHECK_EQ(fcntl(house.ringer, F_SETFL, 0), 0);
	do
		err = ring(&flooder, &waker);
	while (!err && ++nr < 10000000);
	CHECK_EQ(err, -EAGAIN);
	CHECK_GT(nr, DOORBELL_BATCH);
	CHECK_EQ(flooder.counts.full, 1);
	CHECK_EQ(ring(&polite, &waker), 0);
	/* One round hears the polite one, and a part of the flood. */
	CHECK(doorbell_hear(&house.bell));
	heard = counts_of(&house).stale;
	CHECK_EQ(heard, DOORBELL_BATCH + 1);
	CHECK_EQ(ring(&flooder, &waker), 0);
	hear_all(&house);
	CHECK_EQ(counts_of(&house).stale, nr + 2);
	doorbell_close(&flooder);
	doorbell_close(&polite);
	leave(&house);
}

TEST(a_ringer_that_is_killed_leaves_nothing_to_hear)
{
	struct shared *shared = share();
	struct house house;
	int pid;

	build(&house);
	shared->waker = doorbell_share(7ull << 32);
	pid = start_ringer(&house, shared);
	os_close(house.ringer);
	house.ringer = -1;
	ring_from(shared);
	end_ringer(pid);
	hear_all(&house);
	/* What it said before it died counts. */
	CHECK_EQ(counts_of(&house).stale, 1);
	CHECK_EQ(counts_of(&house).cut, 0);
	CHECK(!has_line(&house, RINGER));
	CHECK(!os_fd_is_readable(doorbell_fd(&house.bell)));
	leave(&house);
}

TEST(a_number_that_has_a_new_member_does_not_reach_it_by_the_old_name)
{
	const struct doorbell_waker waker = doorbell_share(7ull << 32);
	struct house house;
	int fd[2];

	build(&house);
	CHECK_EQ(os_seqpacket_pair(fd), 0);
	CHECK_EQ(doorbell_add(&house.bell, RINGER, GENERATION + 1, fd[0]),
		 -EEXIST);
	CHECK_EQ(doorbell_add(&house.bell, DOMAIN_MEMBERS_MAX, 1, fd[0]),
		 -EINVAL);
	CHECK_EQ(doorbell_add(&house.bell, OTHER + 1, 0, fd[0]), -EINVAL);
	doorbell_remove(&house.bell, RINGER, GENERATION + 1);
	CHECK(has_line(&house, RINGER));
	doorbell_remove(&house.bell, RINGER, GENERATION);
	CHECK(!has_line(&house, RINGER));
	CHECK_EQ(doorbell_add(&house.bell, RINGER, GENERATION + 1, fd[0]), 0);
	CHECK_EQ(doorbell_ring(&house.bell, RINGER, GENERATION, &waker),
		 -ESRCH);
	CHECK_EQ(doorbell_ring(&house.bell, RINGER, GENERATION + 1, &waker), 0);
	CHECK_EQ(doorbell_ring(&house.bell, DOMAIN_NOBODY, GENERATION, &waker),
		 -ESRCH);
	os_close(fd[1]);
	leave(&house);
}

/* ---- the end of a line ------------------------------------------------------------- */

/* A member rings, and leaves at once: the host's news of that may come first. */
TEST(what_was_rung_before_the_end_of_a_line_is_heard)
{
	const struct doorbell_waker waker = doorbell_share(7ull << 32);
	const struct doorbell_waker guess = { .id = 7ull << 32 };
	struct doorbell ringer;
	struct house house;

	build(&house);
	begin_ringer(&ringer, house.ringer);
	for (int i = 0; i < 3 * DOORBELL_BATCH; i++)
		CHECK_EQ(ring(&ringer, &waker), 0);
	CHECK_EQ(ring(&ringer, &guess), 0);
	doorbell_remove(&house.bell, RINGER, GENERATION);
	CHECK_EQ(counts_of(&house).stale, 3 * DOORBELL_BATCH);
	CHECK_EQ(counts_of(&house).forged, 1);
	CHECK_EQ(ring(&ringer, &waker), -ENOLINK);
	CHECK_EQ(doorbell_ring(&house.bell, RINGER, GENERATION, &waker),
		 -ESRCH);
	doorbell_close(&ringer);
	leave(&house);
}

TEST(all_lines_end_with_the_doorbell_and_are_heard_before)
{
	const struct doorbell_waker waker = doorbell_share(7ull << 32);
	struct doorbell ringer, polite;
	struct house house;

	build(&house);
	begin_ringer(&ringer, house.ringer);
	begin_ringer(&polite, house.other);
	CHECK_EQ(ring(&ringer, &waker), 0);
	CHECK_EQ(ring(&polite, &waker), 0);
	doorbell_close(&house.bell);
	CHECK_EQ(counts_of(&house).stale, 2);
	CHECK_EQ(ring(&ringer, &waker), -ENOLINK);
	/* It may be opened again, and counts on. */
	CHECK_EQ(doorbell_open(&house.bell), 0);
	CHECK_EQ(doorbell_add(&house.bell, RINGER, GENERATION, -1), 0);
	CHECK_EQ(counts_of(&house).stale, 2);
	doorbell_close(&ringer);
	doorbell_close(&polite);
	leave(&house);
}

TEST(a_member_without_a_line_is_told_from_none)
{
	const struct doorbell_waker waker = doorbell_share(7ull << 32);
	struct house house;

	build(&house);
	CHECK_EQ(doorbell_add(&house.bell, 9, GENERATION, -1), 0);
	CHECK_EQ(doorbell_ring(&house.bell, 9, GENERATION, &waker), -ENOLINK);
	CHECK_EQ(doorbell_ring(&house.bell, 9, GENERATION + 1, &waker), -ESRCH);
	CHECK_EQ(doorbell_ring(&house.bell, 9, 0, &waker), -ESRCH);
	CHECK_EQ(doorbell_ring(&house.bell, 10, 0, &waker), -ESRCH);
	doorbell_remove(&house.bell, 9, GENERATION);
	CHECK_EQ(doorbell_ring(&house.bell, 9, GENERATION, &waker), -ESRCH);
	/* Something that cannot be watched is no line. */
	CHECK_EQ(doorbell_add(&house.bell, 9, GENERATION, 1 << 20), -EBADF);
	CHECK_EQ(doorbell_ring(&house.bell, 9, GENERATION, &waker), -ENOLINK);
	leave(&house);
}
