/* SPDX-License-Identifier: MIT */
/*
 * request_ring_stress.c - a request ring between two processes: answers in random
 * order, sleeps at random, and the death of either side at any moment.
 *
 * Each request has a number, and a byte in memory that all processes share, in which
 * the server counts how often it has run the request.
 */
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stress/stress.h"

#include "os/shared_memory.h"
#include "shm/request_server.h"
#include "shm/request_submitter.h"

#define DEPTH 64
#define SLOT 128
#define NR_THREADS 4
#define NR_REQUESTS 100000u
#define NR_KILLS 60

static struct {
	unsigned char ran[NR_REQUESTS]; /* by number            */
	uint32_t nr_acknowledged;       /* by a submitter that dies */
} * common;

static int fd;
static struct request_ring ring;

static uint64_t spin_ns(void)
{
	return one_in(2) ? 0 : test_random(20000);
}

static void begin(void)
{
	test_timeout(100);
	common = mmap(NULL, sizeof(*common), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(common != MAP_FAILED);
	fd = request_ring_create(&ring, "stress", DEPTH, SLOT);
	CHECK_GE(fd, 0);
}

static void end(void)
{
	request_ring_detach(&ring);
	os_close(fd);
	munmap(common, sizeof(*common));
}

/* ---- the server -------------------------------------------------------------------- */

static struct request_server server;

static void tell_submitter(int bits)
{
	CHECK_GE(bits, 0);
	CHECK(!entry_ring_tell(server.completions.word, bits));
}

/* Takes requests while there are any and there is room.  Returns how many it has. */
static uint32_t take_some(struct request *taken, uint32_t nr)
{
	unsigned char data[SLOT];
	int got = 1;

	while (nr < DEPTH && got && !one_in(8)) {
		got = request_take(&server, &taken[nr], data);
		CHECK_GE(got, 0);
		if (!got)
			break;
		for (uint32_t i = 0; i < taken[nr].size; i++)
			CHECK_EQ(data[i], (unsigned char)(taken[nr].value + i));
		__atomic_fetch_add(&common->ran[taken[nr].value], 1,
				   __ATOMIC_RELAXED);
		nr++;
	}
	return nr;
}

static void answer(const struct request *request)
{
	unsigned char data[SLOT];
	uint32_t size = (uint32_t)test_random(SLOT + 1);

	memset(data, (int)(request->value % 251), size);
	CHECK_EQ(request_put_answer(&server, request, ~request->value, data,
				    size),
		 0);
	if (one_in(4))
		tell_submitter(request_publish_answers(&server));
}

/* Until the submitter stops. */
static void serve(void)
{
	struct request taken[DEPTH];
	uint32_t nr = 0;

	request_server_init(&server, &ring);
	for (;;) {
		nr = take_some(taken, nr);
		while (nr && !one_in(4)) {
			uint32_t i = (uint32_t)test_random(nr);

			answer(&taken[i]);
			taken[i] = taken[--nr];
		}
		tell_submitter(request_publish_answers(&server));
		if (nr)
			continue;
		if (server.submissions.stopped &&
		    server.submissions.nr % (COUNT_WORD_MASK + 1) ==
			    count_word_count(
				    count_word_load(server.submissions.word)))
			return;
		CHECK_EQ(entry_ring_await(server.submissions.word,
					  entry_ring_seen(&server.submissions),
					  spin_ns(), UINT64_MAX),
			 0);
	}
}

/* In a process that has nothing but the descriptor. */
static pid_t fork_server(void)
{
	pid_t pid = fork();

	CHECK_GE(pid, 0);
	if (pid)
		return pid;
	request_ring_detach(&ring);
	CHECK_EQ(request_ring_attach(&ring, fd), 0);
	serve();
	_exit(0);
}

static void reap(pid_t pid, int expected)
{
	int status;

	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, expected);
}

/* ---- the submitter ------------------------------------------------------------------ */

struct thread {
	uint32_t nr_submitted;
	uint32_t nr_answered;
	uint32_t first;
	uint32_t end;
};

static struct {
	pthread_mutex_t lock;
	struct request_submitter *submitter;
	unsigned char answered[NR_REQUESTS];
} client = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void client_begin(void)
{
	if (!client.submitter)
		client.submitter = malloc(request_submitter_size(DEPTH));
	request_submitter_init(client.submitter, &ring);
}

static void tell_server(int bits)
{
	CHECK_GE(bits, 0);
	CHECK(!entry_ring_tell(client.submitter->submissions.word, bits));
}

static void collect_all(void)
{
	unsigned char data[SLOT];
	struct request_answer got;
	int nr;

	while ((nr = request_collect(client.submitter, &got, data)) > 0) {
		struct thread *thread = got.owner;
		uint32_t number = (uint32_t)~got.value;

		CHECK_LT(number, NR_REQUESTS);
		CHECK_EQ(client.answered[number], 0);
		client.answered[number] = 1;
		for (uint32_t i = 0; i < got.size; i++)
			CHECK_EQ(data[i], number % 251);
		thread->nr_answered++;
	}
	CHECK_EQ(nr, 0);
}

/* False: the ring is full. */
static bool submit(struct thread *thread, uint32_t number)
{
	unsigned char data[SLOT];
	struct request_submission what = { .value = number,
					   .data = data,
					   .size = (uint32_t)test_random(SLOT +
									 1),
					   .owner = thread };
	uint64_t id;
	int err;

	for (uint32_t i = 0; i < what.size; i++)
		data[i] = (unsigned char)(number + i);
	err = request_submit(client.submitter, &what, &id);
	CHECK(err == 0 || err == -EAGAIN);
	return err == 0;
}

static void *submit_many(void *arg)
{
	struct thread *thread = arg;
	uint32_t each = thread->end - thread->first;

	for (;;) {
		bool done, waits;
		uint32_t seen;
		int bits;

		pthread_mutex_lock(&client.lock);
		collect_all();
		while (thread->nr_submitted < each && !one_in(8) &&
		       submit(thread, thread->first + thread->nr_submitted))
			thread->nr_submitted++;
		bits = request_publish(client.submitter);
		seen = entry_ring_seen(&client.submitter->completions);
		done = thread->nr_answered == each;
		waits = client.submitter->nr_pending > 0;
		pthread_mutex_unlock(&client.lock);
		tell_server(bits);
		if (done)
			return NULL;
		if (!waits || (thread->nr_submitted < each && one_in(2)))
			continue;
		CHECK_EQ(entry_ring_await(client.submitter->completions.word,
					  seen, spin_ns(), in_ms(10000)),
			 0);
	}
}

static void exchange(uint32_t nr_threads)
{
	uint32_t nr = (uint32_t)test_scale(NR_REQUESTS) / nr_threads;
	struct thread threads[NR_THREADS] = { { .first = 0 } };
	pthread_t ids[NR_THREADS];
	pid_t pid;

	begin();
	pid = fork_server();
	client_begin();
	for (uint32_t i = 0; i < nr_threads; i++) {
		threads[i].first = i * nr;
		threads[i].end = (i + 1) * nr;
		ids[i] = test_thread(submit_many, &threads[i]);
	}
	for (uint32_t i = 0; i < nr_threads; i++)
		pthread_join(ids[i], NULL);
	tell_server(request_submitter_stop(client.submitter));
	reap(pid, 0);
	for (uint32_t i = 0; i < nr * nr_threads; i++) {
		CHECK_EQ(common->ran[i], 1);
		CHECK_EQ(client.answered[i], 1);
	}
	CHECK_EQ(client.submitter->nr_pending, 0);
	test_count(nr * nr_threads);
	free(client.submitter);
	end();
}

TEST(a_thread_submits_a_hundred_thousand_requests)
{
	exchange(1);
}

TEST(four_threads_submit_a_hundred_thousand_requests)
{
	exchange(4);
}

/* ---- deaths -------------------------------------------------------------------------- */

/* Submits for a moment; then the server is killed. */
static uint32_t submit_and_kill(struct thread *thread, pid_t pid)
{
	uint64_t end_ns = test_now_ns() + test_random(2000000);

	do {
		collect_all();
		while (thread->nr_submitted < NR_REQUESTS && !one_in(4) &&
		       submit(thread, thread->nr_submitted))
			thread->nr_submitted++;
		tell_server(request_publish(client.submitter));
		(void)!entry_ring_await(
			client.submitter->completions.word,
			entry_ring_seen(&client.submitter->completions),
			spin_ns(), in_ms(1));
	} while (test_now_ns() < end_ns);
	kill(pid, SIGKILL);
	reap(pid, SIGKILL);
	collect_all();
	return thread->nr_submitted;
}

/*
 * Answered requests have run once, begun requests at most once, others never.  The
 * requests of each life begin where the numbers of the previous life ended.
 */
TEST(a_killed_server_loses_and_invents_nothing)
{
	struct thread thread = { .first = 0 };
	int nr_kills = test_scale(NR_KILLS);
	uint32_t nr_begun = 0, nr_unbegun = 0;

	begin();
	for (uint32_t life = 1; nr_kills--; life++) {
		struct request_retreat retreat;
		struct request_remnant remnant;
		uint32_t nr_cut = 0;

		client_begin();
		submit_and_kill(&thread, fork_server());
		request_retreat_init(&retreat, client.submitter, true);
		while (request_take_back(client.submitter, &retreat,
					 &remnant)) {
			uint32_t number = (uint32_t)remnant.id;

			CHECK_EQ(client.answered[number], 0);
			CHECK_LE(common->ran[number], remnant.begun);
			nr_cut += remnant.begun && !common->ran[number];
			nr_begun += remnant.begun;
			nr_unbegun += !remnant.begun;
		}
		/* The server may have died between the two. */
		CHECK_LE(nr_cut, 1);
		CHECK_EQ(client.submitter->nr_pending, 0);
		request_ring_begin_life(&ring, life + 1, thread.nr_submitted);
	}
	CHECK_EQ(thread.nr_answered + nr_begun + nr_unbegun,
		 thread.nr_submitted);
	for (uint32_t i = 0; i < thread.nr_submitted; i++)
		CHECK(!client.answered[i] || common->ran[i] == 1);
	test_count(thread.nr_submitted);
	free(client.submitter);
	end();
}

/* Publishes one request at a time, and says so. */
static void submit_until_killed(void)
{
	struct thread thread = { .first = 0 };

	client_begin();
	for (uint32_t number = 0; number < NR_REQUESTS;) {
		collect_all();
		if (!submit(&thread, number)) {
			CHECK_EQ(
				entry_ring_await(
					client.submitter->completions.word,
					entry_ring_seen(
						&client.submitter->completions),
					spin_ns(), UINT64_MAX),
				0);
			continue;
		}
		tell_server(request_publish(client.submitter));
		__atomic_store_n(&common->nr_acknowledged, ++number,
				 __ATOMIC_RELEASE);
	}
	for (;;)
		pause();
}

/* Takes and answers all requests that are there.  The next number. */
static uint32_t serve_some(uint32_t next)
{
	unsigned char data[SLOT];
	struct request request;
	int nr;

	while ((nr = request_take(&server, &request, data)) > 0) {
		CHECK_EQ(request.value, next);
		next++;
		answer(&request);
	}
	CHECK_EQ(nr, 0);
	tell_submitter(request_publish_answers(&server));
	return next;
}

TEST(what_a_killed_submitter_has_published_is_served)
{
	for (int i = test_scale(NR_KILLS); i; i--) {
		uint32_t next = 0, nr;
		uint64_t end_ns;
		pid_t pid;

		begin();
		pid = fork();
		CHECK_GE(pid, 0);
		if (!pid)
			submit_until_killed();
		request_server_init(&server, &ring);
		end_ns = test_now_ns() + test_random(2000000);
		while (test_now_ns() < end_ns)
			next = serve_some(next);
		kill(pid, SIGKILL);
		reap(pid, SIGKILL);
		next = serve_some(next);
		nr = __atomic_load_n(&common->nr_acknowledged,
				     __ATOMIC_ACQUIRE);
		/* It may have died between the publication and the count. */
		CHECK(next == nr || next == nr + 1);
		test_count(nr);
		end();
	}
}

static void *await_for_ever(void *arg)
{
	(void)arg;
	CHECK_EQ(entry_ring_await(
			 client.submitter->completions.word,
			 entry_ring_seen(&client.submitter->completions), 0,
			 UINT64_MAX),
		 0);
	return NULL;
}

TEST(threads_that_wait_for_a_dead_server_are_woken)
{
	pthread_t ids[NR_THREADS];
	pid_t pid;

	begin();
	pid = fork_server();
	client_begin();
	for (int i = 0; i < NR_THREADS; i++)
		ids[i] = test_thread(await_for_ever, NULL);
	kill(pid, SIGKILL);
	reap(pid, SIGKILL);
	CHECK(!entry_ring_end(client.submitter->completions.word));
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(ids[i], NULL);
	CHECK_EQ(entry_ring_look(&client.submitter->completions, 0), 0);
	CHECK(client.submitter->completions.stopped);
	free(client.submitter);
	end();
}
