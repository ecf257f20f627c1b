/* SPDX-License-Identifier: MIT */
/*
 * shm_request_ring.c - both sides of a request ring, one step at a time, and what each
 * side does when the other side lies.
 */
#include "harness/test.h"

#include "os/map.h"
#include "os/shared_memory.h"
#include "shm/request_server.h"
#include "shm/request_submitter.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define DEPTH 4
#define SLOT 64

static int fd;
static struct request_ring ours, theirs;
static struct request_submitter *submitter;
static struct request_server server;

static void begin_at(uint64_t first)
{
	fd = request_ring_create(&ours, "test", DEPTH, SLOT);
	CHECK_GE(fd, 0);
	request_ring_begin_life(&ours, 7, first);
	CHECK_EQ(request_ring_attach(&theirs, fd), 0);
	submitter = malloc(request_submitter_size(DEPTH));
	request_submitter_init(submitter, &ours);
	request_server_init(&server, &theirs);
}

static void end(void)
{
	free(submitter);
	request_ring_detach(&ours);
	request_ring_detach(&theirs);
	os_close(fd);
}

static uint64_t submit(uint32_t number)
{
	struct request_submission what = { .value = number,
					   .data = &number,
					   .size = sizeof(number),
					   .owner = &submitter };
	uint64_t id = 0;

	CHECK_EQ(request_submit(submitter, &what, &id), 0);
	CHECK_EQ(request_publish(submitter), 0);
	return id;
}

static struct request take(void)
{
	unsigned char data[SLOT];
	struct request request = { .id = 0 };
	uint32_t number;

	CHECK_EQ(request_take(&server, &request, data), 1);
	CHECK_EQ(request.size, sizeof(number));
	memcpy(&number, data, sizeof(number));
	CHECK_EQ(number, request.value);
	return request;
}

static void answer(const struct request *request)
{
	uint32_t number = ~(uint32_t)request->value;

	CHECK_EQ(request_put_answer(&server, request, request->value + 1,
				    &number, sizeof(number)),
		 0);
	CHECK_EQ(request_publish_answers(&server), 0);
}

static void check_answer(uint64_t id, uint32_t number)
{
	unsigned char data[SLOT];
	struct request_answer got = { .id = 0 };
	uint32_t inverse;

	CHECK_EQ(request_collect(submitter, &got, data), 1);
	CHECK_EQ(got.id, id);
	CHECK_EQ(got.value, number + 1);
	CHECK_EQ(got.size, sizeof(inverse));
	CHECK(got.owner == &submitter);
	memcpy(&inverse, data, sizeof(inverse));
	CHECK_EQ(inverse, ~number);
}

static int collect(void)
{
	struct request_answer got;

	return request_collect(submitter, &got, NULL);
}

static int take_any(void)
{
	struct request request;

	return request_take(&server, &request, NULL);
}

/* ---- honest sides ------------------------------------------------------------------ */

/* The counts of the words wrap, and so do the numbers of the ids. */
static void answer_out_of_order(uint64_t first)
{
	uint64_t ids[DEPTH];
	struct request requests[DEPTH];
	static const int order[DEPTH] = { 2, 0, 3, 1 };

	begin_at(first);
	for (uint32_t round = 0; round < 5; round++) {
		for (uint32_t i = 0; i < DEPTH; i++)
			ids[i] = submit(100 * round + i);
		for (int i = 0; i < DEPTH; i++)
			requests[i] = take();
		CHECK_EQ(take_any(), 0);
		for (int i = 0; i < DEPTH; i++)
			answer(&requests[order[i]]);
		for (int i = 0; i < DEPTH; i++)
			check_answer(ids[order[i]],
				     100 * round + (uint32_t)order[i]);
		CHECK_EQ(collect(), 0);
	}
	CHECK_EQ(submitter->nr_pending, 0);
	end();
}

TEST(requests_are_answered_out_of_order)
{
	answer_out_of_order(0);
}

TEST(counts_wrap)
{
	answer_out_of_order(COUNT_WORD_MASK - 2);
	answer_out_of_order(UINT32_MAX - 2);
}

TEST(a_full_ring_says_so_until_an_answer_is_collected)
{
	struct request_submission what = { .value = 9 };
	struct request first;
	uint64_t id;

	begin_at(0);
	for (uint32_t i = 0; i < DEPTH; i++)
		submit(i);
	CHECK_EQ(request_submit(submitter, &what, &id), -EAGAIN);
	first = take();
	answer(&first);
	CHECK_EQ(request_submit(submitter, &what, &id), -EAGAIN);
	CHECK_EQ(collect(), 1);
	CHECK_EQ(request_submit(submitter, &what, &id), 0);
	end();
}

TEST(data_that_does_not_fit_is_refused)
{
	static const char large[SLOT + 1];
	struct request_submission what = { .data = large,
					   .size = sizeof(large) };
	struct request request;
	uint64_t id;

	begin_at(0);
	CHECK_EQ(request_submit(submitter, &what, &id), -EMSGSIZE);
	CHECK_EQ(submitter->nr_pending, 0);
	submit(1);
	request = take();
	CHECK_EQ(request_put_answer(&server, &request, 0, large, sizeof(large)),
		 -EMSGSIZE);
	answer(&request);
	CHECK_EQ(collect(), 1);
	end();
}

TEST(a_batch_is_published_at_once)
{
	struct request_submission what = { .value = 1 };
	uint64_t id;

	begin_at(0);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(request_submit(submitter, &what, &id), 0);
	CHECK_EQ(take_any(), 0);
	CHECK_EQ(request_publish(submitter), 0);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(take_any(), 1);
	CHECK_EQ(take_any(), 0);
	end();
}

TEST(a_waiter_is_told_once_in_its_own_way)
{
	struct request_submission what = { .value = 1 };
	uint32_t *word, seen;
	uint64_t id;

	begin_at(0);
	word = server.submissions.word;
	seen = entry_ring_seen(&server.submissions);
	CHECK_EQ(entry_ring_await(word, seen, 1000, os_now() + 1000000),
		 -ETIMEDOUT);
	/* The bit of the sleeper has stayed: one wake-up in vain. */
	CHECK_EQ(request_submit(submitter, &what, &id), 0);
	CHECK_EQ(request_publish(submitter), COUNT_WORD_SLEEPS);
	CHECK(entry_ring_watch(word, seen)); /* news */
	CHECK_EQ(entry_ring_await(word, seen, 0, 0), 0);
	CHECK_EQ(take_any(), 1);
	seen = entry_ring_seen(&server.submissions);
	CHECK(!entry_ring_watch(word, seen));
	CHECK_EQ(request_submit(submitter, &what, &id), 0);
	CHECK_EQ(request_publish(submitter), COUNT_WORD_WATCHED);
	CHECK(entry_ring_tell(word, COUNT_WORD_WATCHED));
	CHECK_EQ(request_submit(submitter, &what, &id), 0);
	CHECK_EQ(request_publish(submitter), 0);
	end();
}

TEST(a_deadline_in_the_past_ends_a_wait_at_once)
{
	begin_at(0);
	CHECK_EQ(entry_ring_await(server.submissions.word,
				  entry_ring_seen(&server.submissions),
				  UINT64_MAX, 1),
		 -ETIMEDOUT);
	end();
}

TEST(a_stop_of_the_submitter_is_seen_after_its_requests)
{
	begin_at(0);
	submit(1);
	CHECK_EQ(request_submitter_stop(submitter), 0);
	CHECK_EQ(take_any(), 1);
	CHECK_EQ(take_any(), 0);
	CHECK(server.submissions.stopped);
	end();
}

/* ---- death and stop ---------------------------------------------------------------- */

/* Answered, begun, not begun, not published: each goes its way. */
TEST(a_death_leaves_what_was_begun_and_what_was_not)
{
	struct request_submission what = { .value = 1 };
	struct request_retreat retreat;
	struct request_remnant remnant;
	int nr_begun = 0, nr_unbegun = 0;
	struct request request;
	uint64_t begun, last;

	begin_at(UINT32_MAX);
	submit(1);
	begun = submit(2);
	submit(3);
	CHECK_EQ(request_submit(submitter, &what, &last), 0);
	request = take();
	take();
	answer(&request);
	CHECK_EQ(collect(), 1);
	request_retreat_init(&retreat, submitter, true);
	while (request_take_back(submitter, &retreat, &remnant)) {
		CHECK_EQ(remnant.begun, remnant.id == begun);
		nr_begun += remnant.begun;
		nr_unbegun += !remnant.begun;
	}
	CHECK_EQ(nr_begun, 1);
	CHECK_EQ(nr_unbegun, 2);
	CHECK_EQ(submitter->nr_pending, 0);
	/* The next life takes no answer of the previous life. */
	request_ring_begin_life(&ours, 8, submitter->submissions.nr);
	request_submitter_init(submitter, &ours);
	submit(5);
	CHECK_EQ(request_put_answer(&server, &request, 0, NULL, 0), 0);
	(void)!request_publish_answers(&server);
	CHECK_EQ(collect(), -EPROTO);
	end();
}

TEST(a_stopped_server_gives_back_what_it_has_not_begun)
{
	struct request_submission what = { .value = 1 };
	struct request_retreat retreat;
	struct request_remnant remnant;
	struct request request;
	uint64_t id, unbegun;

	begin_at(0);
	submit(1);
	unbegun = submit(2);
	request = take();
	CHECK_EQ(request_server_stop(&server), 0);
	CHECK_EQ(take_any(), 0);
	CHECK_EQ(collect(), 0);
	CHECK_EQ(request_submit(submitter, &what, &id), -EPIPE);
	request_retreat_init(&retreat, submitter, false);
	CHECK(request_take_back(submitter, &retreat, &remnant));
	CHECK_EQ(remnant.id, unbegun);
	CHECK(!remnant.begun);
	CHECK(!request_take_back(submitter, &retreat, &remnant));
	answer(&request);
	CHECK_EQ(collect(), 1);
	CHECK_EQ(submitter->nr_pending, 0);
	end();
}

TEST(a_server_that_lies_about_begun_has_begun_all)
{
	struct request_retreat retreat;
	struct request_remnant remnant;

	begin_at(10);
	submit(1);
	submit(2);
	store_relaxed(&theirs.memory->begun, 3);
	request_retreat_init(&retreat, submitter, true);
	for (int i = 0; i < 2; i++) {
		CHECK(request_take_back(submitter, &retreat, &remnant));
		CHECK(remnant.begun);
	}
	end();
}

/* ---- lies of the server ------------------------------------------------------------ */

static void lie(const struct ring_entry *entry)
{
	entry_ring_put(&server.completions, entry);
	(void)!entry_ring_publish(&server.completions);
	CHECK_EQ(collect(), -EPROTO);
	CHECK(submitter->broken);
	CHECK_EQ(collect(), -EPROTO); /* for ever */
	end();
}

static struct ring_entry begin_lie(void)
{
	struct ring_entry entry = { .value = 1 };

	begin_at(0);
	entry.id = submit(1);
	submit(2);
	return entry;
}

TEST(an_answer_with_an_invented_id_is_a_lie)
{
	struct ring_entry entry = begin_lie();

	entry.id += 77;
	lie(&entry);
}

TEST(an_answer_of_an_earlier_life_is_a_lie)
{
	struct ring_entry entry = begin_lie();

	entry.id -= 1ull << 32;
	lie(&entry);
}

TEST(an_answer_from_another_slot_is_a_lie)
{
	struct ring_entry entry = begin_lie();

	entry.slot = 1;
	lie(&entry);
}

TEST(an_answer_from_a_slot_that_does_not_exist_is_a_lie)
{
	struct ring_entry entry = begin_lie();

	entry.slot = DEPTH;
	lie(&entry);
}

TEST(an_answer_from_a_free_slot_is_a_lie)
{
	struct ring_entry entry = begin_lie();

	entry.slot = 3;
	entry.id = 0;
	lie(&entry);
}

TEST(an_answer_that_is_too_large_is_a_lie)
{
	struct ring_entry entry = begin_lie();

	entry.size = SLOT + 1;
	lie(&entry);
}

TEST(a_second_answer_is_a_lie)
{
	struct ring_entry entry = begin_lie();

	entry_ring_put(&server.completions, &entry);
	(void)!entry_ring_publish(&server.completions);
	CHECK_EQ(collect(), 1);
	lie(&entry);
}

TEST(more_answers_than_requests_are_a_lie)
{
	begin_at(0);
	submit(1);
	(void)!count_word_add(&theirs.memory->completed, 2);
	CHECK_EQ(collect(), -EPROTO);
	end();
}

TEST(a_changed_count_of_the_submitter_is_a_lie)
{
	struct request_submission what = { .value = 1 };
	uint64_t id;

	begin_at(0);
	(void)!count_word_add(&theirs.memory->submitted, 1);
	CHECK_EQ(request_submit(submitter, &what, &id), 0);
	CHECK_EQ(request_publish(submitter), -EPROTO);
	CHECK_EQ(request_submit(submitter, &what, &id), -EPROTO);
	end();
}

/* ---- lies of the submitter ---------------------------------------------------------- */

static void lie_to_server(const struct ring_entry *entry)
{
	begin_at(0);
	entry_ring_put(&submitter->submissions, entry);
	(void)!entry_ring_publish(&submitter->submissions);
	CHECK_EQ(take_any(), -EPROTO);
	CHECK(server.broken);
	CHECK_EQ(take_any(), -EPROTO); /* for ever */
	CHECK_EQ(request_server_nr_taken(&server), 0);
	end();
}

TEST(a_request_out_of_order_is_a_lie)
{
	lie_to_server(&(struct ring_entry){ .id = request_id(7, 1) });
}

TEST(a_request_of_an_earlier_life_is_a_lie)
{
	lie_to_server(&(struct ring_entry){ .id = request_id(6, 0) });
}

TEST(a_request_in_a_slot_that_does_not_exist_is_a_lie)
{
	lie_to_server(
		&(struct ring_entry){ .id = request_id(7, 0), .slot = DEPTH });
}

TEST(a_request_that_is_too_large_is_a_lie)
{
	lie_to_server(&(struct ring_entry){ .id = request_id(7, 0),
					    .size = SLOT + 1 });
}

TEST(more_requests_than_slots_are_a_lie)
{
	begin_at(0);
	submit(1);
	take();
	(void)!count_word_add(&ours.memory->submitted, DEPTH);
	CHECK_EQ(take_any(), -EPROTO);
	end();
}

/* ---- the memory itself -------------------------------------------------------------- */

TEST(the_layout_is_the_same_everywhere)
{
	static const unsigned char bytes[] = {
		's', 'l', 'e', 'y', 'r', 'i', 'n', 'g', 1, 0, 0, 0, 4, 0,
		0,   0,   64,  0,   0,   0,   7,   0,   0, 0, 5, 0, 0, 0,
		0,   0,   0,   0,   0,   3,   0,   0,   0, 0, 0, 0,
	};
	const unsigned char *memory;

	begin_at(5);
	memory = (const unsigned char *)ours.memory;
	CHECK_EQ(sizeof(bytes), sizeof(struct request_header));
	CHECK_EQ(memcmp(memory, bytes, sizeof(bytes)), 0);
	CHECK_EQ(memory[64], 5 * COUNT_WORD_ONE);
	CHECK_EQ(memory[128], 5 * COUNT_WORD_ONE);
	CHECK_EQ(memory[192], 5);
	submit(0x11223344);
	CHECK_EQ(memory[256 + 32], 5);     /* id: the number ... */
	CHECK_EQ(memory[256 + 32 + 4], 7); /* ... and the life   */
	CHECK_EQ(memory[256 + 32 + 12], 4);
	CHECK_EQ(memory[256 + 32 + 16], 0x44);
	CHECK_EQ(memory[256 + 2 * 32 * DEPTH], 0x44);
	end();
}

static int attach_changed(void (*change)(struct request_header *header))
{
	int err;

	begin_at(0);
	request_ring_detach(&theirs);
	change(&ours.memory->header);
	err = request_ring_attach(&theirs, fd);
	CHECK(!theirs.memory || !err);
	end();
	return err;
}

static void other_magic(struct request_header *header)
{
	header->magic++;
}

static void other_version(struct request_header *header)
{
	header->version = REQUEST_RING_VERSION + 1;
}

static void larger(struct request_header *header)
{
	header->slot_size += CACHE_LINE;
}

static void larger_everywhere(struct request_header *header)
{
	header->depth *= 2;
	header->size = request_ring_size(header->depth, header->slot_size);
}

static void odd_depth(struct request_header *header)
{
	header->depth = 3;
}

static void huge(struct request_header *header)
{
	header->depth = 1u << 31;
	header->slot_size = 1u << 31;
}

static void no_life(struct request_header *header)
{
	header->life = 0;
}

TEST(memory_of_another_kind_is_refused)
{
	CHECK_EQ(attach_changed(other_magic), -EBADMSG);
	CHECK_EQ(attach_changed(other_version), -EPROTONOSUPPORT);
	CHECK_EQ(theirs.version, REQUEST_RING_VERSION + 1);
	CHECK_EQ(attach_changed(larger), -EINVAL);
	CHECK_EQ(attach_changed(larger_everywhere), -EINVAL);
	CHECK_EQ(attach_changed(odd_depth), -EINVAL);
	CHECK_EQ(attach_changed(huge), -EINVAL);
	CHECK_EQ(attach_changed(no_life), -EINVAL);
}

TEST(a_file_that_can_shrink_is_refused)
{
	int open_fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	CHECK_GE(open_fd, 0);
	CHECK_EQ(ftruncate(open_fd, 4096), 0);
	CHECK_EQ(request_ring_attach(&theirs, open_fd), -EPERM);
	CHECK_EQ(fcntl(open_fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	CHECK_EQ(request_ring_attach(&theirs, open_fd), -EBADMSG);
	close(open_fd);
	open_fd = open("/dev/null", O_RDWR);
	CHECK_EQ(request_ring_attach(&theirs, open_fd), -EPERM);
	close(open_fd);
	CHECK_EQ(request_ring_attach(&theirs, -1), -EPERM);
}

TEST(a_truncated_file_is_refused)
{
	int short_fd = os_shared_memory_create("test", 128);

	CHECK_GE(short_fd, 0);
	CHECK_EQ(request_ring_attach(&theirs, short_fd), -EINVAL);
	os_close(short_fd);
}

TEST(sizes_that_are_not_allowed_are_refused)
{
	CHECK_EQ(request_ring_create(&ours, "test", 0, 64), -EINVAL);
	CHECK_EQ(request_ring_create(&ours, "test", 3, 64), -EINVAL);
	CHECK_EQ(request_ring_create(&ours, "test", 4, 65), -EINVAL);
	CHECK_EQ(request_ring_create(&ours, "test", 1u << 17, 64), -EINVAL);
	CHECK_EQ(request_ring_create(&ours, "test", 4, 1u << 21), -EINVAL);
}
