/* SPDX-License-Identifier: MIT */
/*
 * request_ring_hostile.c - a process scribbles over the memory of a request ring while
 * the other side works: that side does not crash, and says that the peer is broken.
 */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stress/stress.h"

#include "os/shared_memory.h"
#include "shm/request_server.h"
#include "shm/request_submitter.h"

#define DEPTH 16
#define SLOT 64
#define NR_ROUNDS 40
#define WAIT_NS 200000

static int fd;
static struct request_ring ring;

/* ---- the hostile process -------------------------------------------------------------- */

static void scribble_all(unsigned char *memory)
{
	for (uint64_t i = 0; i < ring.size; i++)
		__atomic_store_n(&memory[i], (unsigned char)test_random(256),
				 __ATOMIC_RELAXED);
}

/* Small changes, of which many make sense. */
static void scribble_a_bit(unsigned char *memory)
{
	uint64_t end = one_in(2) ? offsetof(struct request_memory, entries)
				 : ring.size;

	__atomic_fetch_xor(&memory[test_random(end)],
			   (unsigned char)(1u << test_random(8)),
			   __ATOMIC_RELAXED);
}

/* Counts that are a little wrong, which is where the bounds are. */
static void scribble_counts(unsigned char *memory)
{
	struct request_memory *words = (struct request_memory *)memory;
	uint32_t *word = one_in(2) ? &words->submitted : &words->completed;

	__atomic_fetch_add(word,
			   (uint32_t)test_random(DEPTH + 2) * COUNT_WORD_ONE,
			   __ATOMIC_RELAXED);
	os_futex_wake_shared(word, 1);
}

static pid_t fork_scribbler(void (*scribble)(unsigned char *memory))
{
	pid_t pid = fork();

	CHECK_GE(pid, 0);
	if (pid)
		return pid;
	CHECK_EQ(request_ring_attach(&ring, fd), 0);
	CHECK_EQ(ftruncate(fd, 0), -1); /* the size is sealed */
	for (;;)
		scribble((unsigned char *)ring.memory);
}

static void end_scribbler(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, SIGKILL); /* and not a failed check */
}

/* ---- the sides that work --------------------------------------------------------------- */

static void submit_until_broken(void)
{
	struct request_submitter *submitter =
		malloc(request_submitter_size(DEPTH));
	static const unsigned char data[SLOT];
	struct request_submission what = { .data = data,
					   .size = SLOT,
					   .owner = &fd };
	unsigned char result[SLOT];
	struct request_answer got;
	struct request_retreat retreat;
	struct request_remnant remnant;
	uint32_t nr = 0, nr_pending;
	uint64_t id;

	request_submitter_init(submitter, &ring);
	while (!submitter->broken) {
		while (request_submit(submitter, &what, &id) == 0)
			;
		(void)!entry_ring_tell(submitter->submissions.word,
				       request_publish(submitter));
		(void)!entry_ring_await(
			submitter->completions.word,
			entry_ring_seen(&submitter->completions), 0,
			os_now() + WAIT_NS);
		while (request_collect(submitter, &got, result) > 0) {
			CHECK(got.owner == &fd);
			CHECK_LE(got.size, SLOT);
		}
		CHECK_LE(submitter->nr_pending, DEPTH);
	}
	CHECK_EQ(request_submit(submitter, &what, &id), -EPROTO);
	CHECK_EQ(request_collect(submitter, &got, result), -EPROTO);
	/* The private state is whole: all requests come back, as begun. */
	nr_pending = submitter->nr_pending;
	request_retreat_init(&retreat, submitter, true);
	for (; request_take_back(submitter, &retreat, &remnant); nr++)
		CHECK(remnant.owner == &fd);
	CHECK_EQ(nr, nr_pending);
	free(submitter);
}

static void serve_until_broken(void)
{
	struct request_server server;
	unsigned char data[SLOT];
	struct request request;

	request_server_init(&server, &ring);
	while (!server.broken) {
		while (request_take(&server, &request, data) > 0) {
			CHECK_LE(request.size, SLOT);
			CHECK_EQ(request_put_answer(&server, &request, 1, data,
						    request.size),
				 0);
		}
		(void)!entry_ring_tell(server.completions.word,
				       request_publish_answers(&server));
		(void)!entry_ring_await(server.submissions.word,
					entry_ring_seen(&server.submissions), 0,
					os_now() + WAIT_NS);
	}
	CHECK_EQ(request_take(&server, &request, data), -EPROTO);
	CHECK_LE(request_server_nr_taken(&server), DEPTH);
}

static void endure(void (*scribble)(unsigned char *memory), void (*work)(void))
{
	test_timeout(100);
	for (int i = test_scale(NR_ROUNDS); i; i--) {
		pid_t pid;

		fd = request_ring_create(&ring, "hostile", DEPTH, SLOT);
		CHECK_GE(fd, 0);
		pid = fork_scribbler(scribble);
		work();
		end_scribbler(pid);
		request_ring_detach(&ring);
		os_close(fd);
		test_count(1);
	}
}

TEST(a_submitter_endures_random_bytes)
{
	endure(scribble_all, submit_until_broken);
}

TEST(a_server_endures_random_bytes)
{
	endure(scribble_all, serve_until_broken);
}

TEST(a_submitter_endures_random_bits)
{
	endure(scribble_a_bit, submit_until_broken);
}

TEST(a_server_endures_random_bits)
{
	endure(scribble_a_bit, serve_until_broken);
}

TEST(a_submitter_endures_wrong_counts)
{
	endure(scribble_counts, submit_until_broken);
}

TEST(a_server_endures_wrong_counts)
{
	endure(scribble_counts, serve_until_broken);
}

/* A process that attaches meanwhile gets a sound ring, or an error. */
TEST(an_attach_endures_random_bits)
{
	uint64_t end_ns = test_now_ns() + 200000000;
	pid_t pid;

	fd = request_ring_create(&ring, "hostile", DEPTH, SLOT);
	CHECK_GE(fd, 0);
	pid = fork_scribbler(scribble_a_bit);
	while (test_now_ns() < end_ns) {
		struct request_ring again;

		if (request_ring_attach(&again, fd) == 0) {
			CHECK_EQ(again.size, ring.size);
			CHECK_EQ(request_ring_size(again.depth,
						   again.slot_size),
				 again.size);
			CHECK(again.life);
		}
		request_ring_detach(&again);
	}
	end_scribbler(pid);
	request_ring_detach(&ring);
	os_close(fd);
}

/* The word changes all the time, but the count does not: a wait ends in time. */
static void change_bits(unsigned char *memory)
{
	struct request_memory *words = (struct request_memory *)memory;

	__atomic_fetch_xor(&words->completed,
			   COUNT_WORD_SLEEPS | COUNT_WORD_WATCHED,
			   __ATOMIC_RELAXED);
	os_futex_wake_shared(&words->completed, 1);
}

TEST(a_deadline_holds_although_the_word_changes)
{
	pid_t pid;

	fd = request_ring_create(&ring, "hostile", DEPTH, SLOT);
	CHECK_GE(fd, 0);
	pid = fork_scribbler(change_bits);
	for (int i = 0; i < 20; i++)
		CHECK_EQ(entry_ring_await(&ring.memory->completed, 0, 0,
					  os_now() + 1000000),
			 -ETIMEDOUT);
	end_scribbler(pid);
	request_ring_detach(&ring);
	os_close(fd);
}
