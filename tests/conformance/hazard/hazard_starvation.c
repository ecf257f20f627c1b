/* SPDX-License-Identifier: MIT */
/*
 * hazard_starvation.c - a waiter of an engine lock lets its holder run, whatever
 * their scheduling classes are.
 *
 * Two threads on one CPU.  The holder takes the lock again and again and keeps it
 * most of the time; the waiter comes now and then, mostly while the holder is
 * preempted inside.  The holder is of the waiter's class, or of a lower one that
 * gets no CPU while the waiter burns it.  A pthread mutex is used in the same way
 * in between, and is the measure: the longest of 1,000 waits for a lock of sley may
 * be twice the longest for the mutex, and a millisecond more.
 *
 * A wait is measured in the CPU time of the two threads.  It is the time on the
 * clock less what the CPU did for other programs, which is as much with the one
 * lock as with the other, but by chance, and is what makes a test fail at random on
 * a busy machine.  A waiter that burns the CPU, and one that sleeps while the
 * holder comes and goes, are both seen.
 *
 * The kernel decides at its tick, every 4 ms, which of two threads has had its
 * share.  Some waits in ten thousand last until then, for either lock, since the
 * woken waiter is not preferred just then.  A round of 1,000 waits with one of
 * those for the one lock, and none for the other, is repeated.  Eight such rounds
 * in a row are no chance, and a lock that starves its holder has no other.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "harness/test.h"

#include "core/wait/waitq.h"
#include "lf/spin.h"

#include <sley/sley.h>

TEST_PROOF("hazard")

#define NR_WAITS 1000
#define NR_ROUNDS 8
#define BATCH 20 /* waits for the one lock, then for the other */
#define SECTION_NS 2000
#define PAUSE_NS 50000
#define SLACK_NS 1000000
#define GIVE_UP_NS 3000000000ull /* of CPU time, in waits */

enum class { EQUAL, NICE, IDLE, FIFO };

/* A lock; or with @lock alone a call that takes one and gives it back. */
struct kind {
	bool (*try)(void); /* true: got it without a wait */
	void (*lock)(void);
	void (*unlock)(void);
};

struct sample {
	uint64_t wait_ns[NR_WAITS];
	unsigned int nr;
	uint64_t sum_ns;
};

static struct scene {
	enum class class;
	const struct kind *kind[2]; /* the lock of sley, and the measure */
	struct sample sample[2];
	atomic_uint now; /* which of the two the holder uses       */
	atomic_bool ready, ends;
	clockid_t holder_clock;
} scene;

/* ---- the locks ---------------------------------------------------------------- */

static struct spinlock spin;
static struct sley_waitq q;
static struct sley_chan *chan;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static bool try_spin(void)
{
	return spin_try_lock(&spin);
}

static void lock_spin(void)
{
	spin_lock(&spin);
}

static void unlock_spin(void)
{
	spin_unlock(&spin);
}

static bool try_waitq(void)
{
	return !(or_acquire(&q.word, WAITQ_LOCK) & WAITQ_LOCK);
}

static void lock_waitq(void)
{
	(void)waitq_lock(&q);
}

static void unlock_waitq(void)
{
	waitq_unlock(&q);
}

/* "Blocks: never." */
static void use_chan(void)
{
	long value = 1;

	(void)!sley_chan_try_send(chan, &value);
	(void)!sley_chan_try_recv(chan, &value);
}

static bool try_mutex(void)
{
	return pthread_mutex_trylock(&mutex) == 0;
}

static void lock_mutex(void)
{
	CHECK_EQ(pthread_mutex_lock(&mutex), 0);
}

static void unlock_mutex(void)
{
	CHECK_EQ(pthread_mutex_unlock(&mutex), 0);
}

/* As often as the channel's lock is used. */
static void use_mutex(void)
{
	for (int i = 0; i < 2; i++) {
		lock_mutex();
		unlock_mutex();
	}
}

static const struct kind a_spin_lock = { try_spin, lock_spin, unlock_spin };
static const struct kind a_list_lock = { try_waitq, lock_waitq, unlock_waitq };
static const struct kind a_channel = { NULL, use_chan, NULL };
static const struct kind a_mutex = { try_mutex, lock_mutex, unlock_mutex };
static const struct kind mutex_calls = { NULL, use_mutex, NULL };

/* ---- the holder ----------------------------------------------------------------- */

static uint64_t read_clock(clockid_t id)
{
	struct timespec t;

	CHECK_EQ(clock_gettime(id, &t), 0);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* False: this class is denied here. */
static bool go_down_to(enum class class)
{
	struct sched_param none = { 0 };

	if (class == NICE)
		return setpriority(PRIO_PROCESS, (id_t)gettid(), 19) == 0;
	if (class == IDLE)
		return !pthread_setschedparam(pthread_self(), SCHED_IDLE,
					      &none);
	return true;
}

static void hold_once(const struct kind *kind)
{
	uint64_t end_ns;

	kind->lock();
	if (!kind->unlock)
		return;
	end_ns = test_now_ns() + SECTION_NS;
	while (test_now_ns() < end_ns)
		;
	kind->unlock();
}

static void *hold(void *arg)
{
	CHECK_EQ(pthread_getcpuclockid(pthread_self(), &scene.holder_clock), 0);
	if (!go_down_to(scene.class))
		test_skip("the lower class is denied here");
	atomic_store(&scene.ready, true);
	while (!atomic_load(&scene.ends))
		hold_once(scene.kind[atomic_load(&scene.now)]);
	return arg;
}

/* ---- the waiter ----------------------------------------------------------------- */

/* The CPU time that both threads have used. */
static uint64_t used_ns(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID) +
	       read_clock(scene.holder_clock);
}

static void wait_once(const struct kind *kind, struct sample *sample)
{
	struct timespec pause = { 0, PAUSE_NS };
	uint64_t start_ns, wait_ns;

	do {
		nanosleep(&pause, NULL);
		if (!kind->try || !kind->try())
			break;
		kind->unlock();
	} while (true);
	start_ns = used_ns();
	kind->lock();
	wait_ns = used_ns() - start_ns;
	if (kind->unlock)
		kind->unlock();
	sample->wait_ns[sample->nr++] = wait_ns;
	sample->sum_ns += wait_ns;
}

/* False: it took so long that more of it would tell nothing new. */
static bool play_round(void)
{
	memset(scene.sample, 0, sizeof(scene.sample));
	while (scene.sample[1].nr < NR_WAITS) {
		for (unsigned int i = 0; i < 2 * BATCH; i++) {
			unsigned int which = i / BATCH;

			atomic_store(&scene.now, which);
			wait_once(scene.kind[which], &scene.sample[which]);
			if (scene.sample[which].sum_ns > GIVE_UP_NS)
				return false;
		}
	}
	return true;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The longest of all that were measured. */
static uint64_t longest_ns(struct sample *sample)
{
	if (!sample->nr)
		return 0;
	qsort(sample->wait_ns, sample->nr, sizeof(uint64_t), compare);
	return sample->wait_ns[sample->nr - 1];
}

static bool bound_holds(void)
{
	return longest_ns(&scene.sample[0]) <=
	       2 * longest_ns(&scene.sample[1]) + SLACK_NS;
}

static void print(const char *what, struct sample *sample)
{
	printf("  %s: %u waits, longest %.3f ms, p99 %.3f ms of CPU time\n",
	       what, sample->nr, (double)longest_ns(sample) * 1e-6,
	       sample->nr
		       ? (double)sample->wait_ns[sample->nr * 99 / 100] * 1e-6
		       : 0);
}

/* ---- the two --------------------------------------------------------------------- */

/* The first CPU that this process may use; the holder inherits it. */
static void stay_on_one_cpu(void)
{
	cpu_set_t allowed, one;
	int cpu = 0;

	CHECK_EQ(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	while (!CPU_ISSET(cpu, &allowed))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	CHECK_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
}

static void go_up_to(enum class class)
{
	struct sched_param low = { .sched_priority = 1 };

	if (class == FIFO &&
	    pthread_setschedparam(pthread_self(), SCHED_FIFO, &low))
		test_skip("SCHED_FIFO is denied here");
}

static void starve(enum class class, const struct kind *kind,
		   const struct kind *measure)
{
	unsigned int nr_bad = 0;
	pthread_t holder;
	bool enough;

	if (test_is_slow())
		test_skip("measures time, and this build is slow");
	test_timeout(240); /* a busy machine has little for a low class */
	scene.class = class;
	scene.kind[0] = kind;
	scene.kind[1] = measure;
	stay_on_one_cpu();
	holder = test_thread(hold, NULL);
	while (!atomic_load(&scene.ready))
		test_nap_ms(1);
	go_up_to(class);
	do {
		enough = play_round();
	} while (enough && !bound_holds() && ++nr_bad < NR_ROUNDS);
	atomic_store(&scene.ends, true);
	pthread_join(holder, NULL);
	print("sley", &scene.sample[0]);
	print("pthread mutex", &scene.sample[1]);
	printf("  rounds repeated: %u\n", nr_bad);
	fflush(stdout);
	CHECK(enough);
	CHECK(bound_holds());
}

static void starve_channel(enum class class)
{
	CHECK_EQ(sley_chan_create(&chan, sizeof(long), 16), 0);
	starve(class, &a_channel, &mutex_calls);
	sley_chan_destroy(chan);
}

TEST(starvation_spin_lock_at_equal_priority)
{
	starve(EQUAL, &a_spin_lock, &a_mutex);
}

TEST(starvation_spin_lock_held_at_nice_19)
{
	starve(NICE, &a_spin_lock, &a_mutex);
}

TEST(starvation_spin_lock_held_by_sched_idle)
{
	starve(IDLE, &a_spin_lock, &a_mutex);
}

TEST(starvation_spin_lock_wanted_by_sched_fifo)
{
	starve(FIFO, &a_spin_lock, &a_mutex);
}

TEST(starvation_list_lock_at_equal_priority)
{
	starve(EQUAL, &a_list_lock, &a_mutex);
}

TEST(starvation_list_lock_held_at_nice_19)
{
	starve(NICE, &a_list_lock, &a_mutex);
}

TEST(starvation_list_lock_held_by_sched_idle)
{
	starve(IDLE, &a_list_lock, &a_mutex);
}

TEST(starvation_list_lock_wanted_by_sched_fifo)
{
	starve(FIFO, &a_list_lock, &a_mutex);
}

TEST(starvation_channel_at_equal_priority)
{
	starve_channel(EQUAL);
}

TEST(starvation_channel_held_at_nice_19)
{
	starve_channel(NICE);
}

TEST(starvation_channel_held_by_sched_idle)
{
	starve_channel(IDLE);
}

TEST(starvation_channel_wanted_by_sched_fifo)
{
	starve_channel(FIFO);
}
