/* SPDX-License-Identifier: MIT */
/*
 * request_ring_hostile.c - a process scribbles over the memory of a request ring while
 * the other side works: that side does not crash, and says that the peer is broken.
 *
 * Random bytes hardly ever have the id that the working side waits for, and all other
 * checks come after that of the id.  So a second kind of hostile process forges: its
 * entries are right but for one field.
 */
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stress/stress.h"

#include "os/clock.h"
#include "os/futex.h"
#include "os/shared_memory.h"

static int wait_beside_writer(const uint32_t *word, uint32_t expected,
			      uint64_t deadline_ns);
#define os_futex_wait_shared(word, expected, deadline_ns)                      \
	wait_beside_writer(word, expected, deadline_ns)

#include "shm/request_server.h"
#include "shm/request_submitter.h"

#define DEPTH 16
#define SLOT 64
#define NR_ROUNDS 40
#define WAIT_NS 200000
#define NR_HONEST (3 * DEPTH) /* entries, before a process forges one */

static int fd;
static struct request_ring ring;
static pid_t hostile;

/* A hostile thread that comes before each sleep; NULL: there is none. */
static void (*before_sleep)(unsigned char *memory);

static int wait_beside_writer(const uint32_t *word, uint32_t expected,
			      uint64_t deadline_ns)
{
	if (before_sleep) {
		CHECK_LT(os_now(), deadline_ns + 10 * SLEY_SEC);
		before_sleep((unsigned char *)ring.memory);
	}
	return (os_futex_wait_shared)(word, expected, deadline_ns);
}

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

/* Sizes that fit each other, or would be allowed. */
static void scribble_sizes(unsigned char *memory)
{
	struct request_header *header =
		&((struct request_memory *)memory)->header;
	uint32_t depth = one_in(2) ? DEPTH : 1u << test_random(18);
	uint32_t slot_size = one_in(2) ? SLOT : 64 * (uint32_t)test_random(4);

	store_relaxed(&header->depth, depth);
	store_relaxed(&header->slot_size, slot_size);
	store_relaxed(&header->size,
		      one_in(2) ? ring.size
				: request_ring_size(depth, slot_size));
	store_relaxed(&header->life, (uint32_t)test_random(3));
	store_relaxed(&header->version, 1 + (uint32_t)test_random(2));
}

/* ---- a hostile process that forges ------------------------------------------------------ */

/* At the bound, or far away. */
static uint32_t beyond(uint32_t bound)
{
	return one_in(2) ? bound : bound + (1u << test_random(31));
}

/* Puts @entry, which is right, or is right but for one field. */
static void put_forged(struct entry_writer *writer, struct ring_entry entry)
{
	static uint32_t last_slot;

	switch (writer->nr < NR_HONEST ? UINT64_MAX : test_random(12)) {
	case 0: /* the id of a slot that is free by now */
		entry.id = 0;
		entry.slot = last_slot;
		break;
	case 1: /* another number, or another life */
		entry.id ^= 1ull << test_random(64);
		break;
	case 2:
		entry.slot = beyond(DEPTH);
		break;
	case 3:
		entry.size = beyond(SLOT + 1);
		break;
	default:
		last_slot = entry.slot;
		break;
	}
	entry_ring_put(writer, &entry);
}

/* Both are used by one hostile process only. */
static struct entry_reader reader;
static struct entry_writer writer;

static void be_submitter(struct request_memory *memory)
{
	writer.word = &memory->submitted;
	writer.entries = request_ring_submissions(&ring);
	reader.word = &memory->completed;
	reader.entries = request_ring_completions(&ring);
	reader.mask = writer.mask = DEPTH - 1;
}

static void be_server(struct request_memory *memory)
{
	writer.word = &memory->completed;
	writer.entries = request_ring_completions(&ring);
	reader.word = &memory->submitted;
	reader.entries = request_ring_submissions(&ring);
	reader.mask = writer.mask = DEPTH - 1;
}

static struct ring_entry honest_request(void)
{
	return (struct ring_entry){ .id = request_id(ring.life, writer.nr),
				    .slot = (uint32_t)writer.nr % DEPTH,
				    .size = (uint32_t)test_random(SLOT + 1) };
}

static void publish_all(void)
{
	(void)!entry_ring_tell(writer.word, entry_ring_publish(&writer));
}

/* How many requests have no answer, as an honest submitter counts. */
static uint32_t nr_unanswered(void)
{
	return count_word_distance(
		count_word_count(count_word_load(reader.word)),
		(uint32_t)writer.nr);
}

static void forge_requests(unsigned char *memory)
{
	be_submitter((struct request_memory *)memory);
	while (nr_unanswered() < DEPTH)
		put_forged(&writer, honest_request());
	publish_all();
}

static void forge_answers(unsigned char *memory)
{
	struct ring_entry entry;

	be_server((struct request_memory *)memory);
	for (int nr = entry_ring_look(&reader, DEPTH); nr > 0; nr--) {
		entry_ring_get(&reader, &entry);
		put_forged(&writer, entry);
	}
	publish_all();
}

/* Right requests, but as many as there are slots, whatever is unanswered. */
static void flood_requests(unsigned char *memory)
{
	struct request_memory *words = (struct request_memory *)memory;
	uint64_t end;

	be_submitter(words);
	if (writer.nr < NR_HONEST ? nr_unanswered()
				  : load_relaxed(&words->begun) != writer.nr)
		return;
	for (end = writer.nr + DEPTH; writer.nr < end;) {
		struct ring_entry entry = honest_request();

		entry_ring_put(&writer, &entry);
	}
	publish_all();
}

/* Adds to the count of the other side, once.  That side may be up to DEPTH behind. */
static void change_count(uint32_t *word)
{
	static bool changed;

	if (!changed && writer.nr >= NR_HONEST && one_in(16)) {
		(void)!count_word_add(word, 1);
		changed = true;
	}
}

/*
 * Before a request, after whose answer the server publishes.  Half of the room: the
 * requests stay right when the count is not.
 */
static void change_count_of_server(unsigned char *memory)
{
	struct ring_entry entry;

	be_submitter((struct request_memory *)memory);
	if (nr_unanswered() >= DEPTH / 2)
		return;
	entry = honest_request();
	entry_ring_put(&writer, &entry);
	change_count(reader.word);
	publish_all();
}

/* Before an answer, after which the submitter has a slot and publishes again. */
static void change_count_of_submitter(unsigned char *memory)
{
	struct ring_entry entry;

	be_server((struct request_memory *)memory);
	if (entry_ring_look(&reader, DEPTH) <= 0)
		return;
	entry_ring_get(&reader, &entry);
	entry_ring_put(&writer, &entry);
	change_count(reader.word);
	publish_all();
}

static void fork_hostile(void (*act)(unsigned char *memory))
{
	hostile = fork();
	CHECK_GE(hostile, 0);
	if (hostile)
		return;
	CHECK_EQ(request_ring_attach(&ring, fd), 0);
	CHECK_EQ(ftruncate(fd, 0), -1); /* the size is sealed */
	for (;;)
		act((unsigned char *)ring.memory);
}

static void end_hostile(void)
{
	int status;

	kill(hostile, SIGKILL);
	CHECK_EQ(waitpid(hostile, &status, 0), hostile);
	CHECK_EQ(status, SIGKILL); /* and not a failed check */
}

/* ---- the sides that work --------------------------------------------------------------- */

/* A request that has no answer yet; its address is the owner. */
static struct asked {
	uint64_t id; /* 0: none */
} asked[DEPTH];

/* Memory that ends where no process may read: a wrong index is seen. */
static void *guarded(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t pages = (size + page - 1) / page * page;
	unsigned char *memory = mmap(NULL, pages + page, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(memory != MAP_FAILED);
	CHECK_EQ(mprotect(memory + pages, page, PROT_NONE), 0);
	return memory + pages - size;
}

static void free_guarded(void *memory, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t pages = (size + page - 1) / page * page;

	CHECK_EQ(munmap((unsigned char *)memory + size - pages, pages + page),
		 0);
}

static void submit_all(struct request_submitter *submitter)
{
	static const unsigned char data[SLOT];

	for (struct asked *one = asked; one < asked + DEPTH; one++) {
		struct request_submission what = { .data = data,
						   .size = SLOT,
						   .owner = one };

		if (one->id)
			continue;
		if (request_submit(submitter, &what, &one->id))
			return;
	}
}

/* The answer is that of a request, and its only answer. */
static void settle(struct asked *owner, uint64_t id)
{
	CHECK(owner >= asked && owner < asked + DEPTH);
	CHECK(owner->id);
	CHECK_EQ(owner->id, id);
	owner->id = 0;
}

/* The private state is whole: all requests come back, as begun. */
static void take_all_back(struct request_submitter *submitter)
{
	struct request_retreat retreat;
	struct request_remnant remnant;
	uint32_t nr = 0, nr_pending = submitter->nr_pending;

	request_retreat_init(&retreat, submitter, true);
	for (; request_take_back(submitter, &retreat, &remnant); nr++) {
		settle(remnant.owner, remnant.id);
		CHECK(remnant.begun);
	}
	CHECK_EQ(nr, nr_pending);
	for (int i = 0; i < DEPTH; i++)
		CHECK_EQ(asked[i].id, 0);
}

/* All is right again, as far as the reader can see. */
static void heal(struct entry_reader *victim, struct ring_entry *entries,
		 const struct ring_entry *entry)
{
	entries[victim->nr & victim->mask] = *entry;
	count_word_reset(victim->word, (uint32_t)victim->nr + 1);
}

static void submit_until_broken(uint32_t least)
{
	struct request_submitter *submitter =
		guarded(request_submitter_size(DEPTH));
	struct request_submission what = { .size = 0 };
	uint64_t id, end_ns = test_now_ns() + 20 * SLEY_SEC;
	unsigned char result[SLOT];
	struct request_answer got;

	request_submitter_init(submitter, &ring);
	while (!submitter->broken) {
		CHECK_LT(test_now_ns(), end_ns);
		submit_all(submitter);
		(void)!entry_ring_tell(submitter->submissions.word,
				       request_publish(submitter));
		(void)!entry_ring_await(
			submitter->completions.word,
			entry_ring_seen(&submitter->completions), 0,
			os_now() + WAIT_NS);
		while (request_collect(submitter, &got, result) > 0) {
			settle(got.owner, got.id);
			CHECK_LE(got.size, SLOT);
		}
		CHECK_LE(submitter->nr_pending, DEPTH);
	}
	end_hostile();
	CHECK_GE(submitter->completions.nr, least);
	for (uint32_t slot = 0; slot < DEPTH; slot++) {
		uint64_t pending = submitter->pending[slot].id;

		if (pending)
			heal(&submitter->completions,
			     request_ring_completions(&ring),
			     &(struct ring_entry){ .id = pending,
						   .slot = slot });
	}
	CHECK_EQ(request_submit(submitter, &what, &id), -EPROTO);
	CHECK_EQ(request_collect(submitter, &got, result), -EPROTO);
	take_all_back(submitter);
	free_guarded(submitter, request_submitter_size(DEPTH));
}

/* Takes what is there, but keeps some of it for later. */
static void serve_some(struct request_server *server)
{
	static struct request taken[DEPTH];
	unsigned char data[SLOT];
	struct request request;
	uint32_t nr = request_server_nr_taken(server);

	while (request_take(server, &request, data) > 0) {
		CHECK_EQ(request.id,
			 request_id(ring.life, server->submissions.nr - 1));
		CHECK_LT(request.slot, DEPTH);
		CHECK_LE(request.size, SLOT);
		CHECK_LT(nr, DEPTH);
		taken[nr++] = request;
	}
	while (nr && !one_in(3)) {
		nr--;
		CHECK_EQ(request_put_answer(server, &taken[nr], 1, data,
					    taken[nr].size),
			 0);
	}
	CHECK_EQ(request_server_nr_taken(server), nr);
}

static void serve_until_broken(uint32_t least)
{
	uint64_t end_ns = test_now_ns() + 20 * SLEY_SEC;
	struct request_server server;
	struct request request;

	request_server_init(&server, &ring);
	while (!server.broken) {
		CHECK_LT(test_now_ns(), end_ns);
		serve_some(&server);
		(void)!entry_ring_tell(server.completions.word,
				       request_publish_answers(&server));
		(void)!entry_ring_await(server.submissions.word,
					entry_ring_seen(&server.submissions), 0,
					os_now() + WAIT_NS);
	}
	end_hostile();
	CHECK_GE(server.submissions.nr, least);
	heal(&server.submissions, request_ring_submissions(&ring),
	     &(struct ring_entry){
		     .id = request_id(ring.life, server.submissions.nr) });
	CHECK_EQ(request_take(&server, &request, NULL), -EPROTO);
}

/* The peer is called broken, but not before @least of its entries were right. */
static void endure(void (*act)(unsigned char *memory),
		   void (*work)(uint32_t least), uint32_t least)
{
	test_timeout(100);
	for (int i = test_scale(NR_ROUNDS); i; i--) {
		/* The process begins with the numbers that are next here. */
		for (int used = 0; used < 100; used++)
			(void)test_random(2);
		fd = request_ring_create(&ring, "hostile", DEPTH, SLOT);
		CHECK_GE(fd, 0);
		fork_hostile(act);
		work(least);
		request_ring_detach(&ring);
		os_close(fd);
		test_count(1);
	}
}

TEST(a_submitter_endures_random_bytes)
{
	endure(scribble_all, submit_until_broken, 0);
}

TEST(a_server_endures_random_bytes)
{
	endure(scribble_all, serve_until_broken, 0);
}

TEST(a_submitter_endures_random_bits)
{
	endure(scribble_a_bit, submit_until_broken, 0);
}

TEST(a_server_endures_random_bits)
{
	endure(scribble_a_bit, serve_until_broken, 0);
}

TEST(a_submitter_endures_wrong_counts)
{
	endure(scribble_counts, submit_until_broken, 0);
}

TEST(a_server_endures_wrong_counts)
{
	endure(scribble_counts, serve_until_broken, 0);
}

TEST(a_submitter_endures_forged_answers)
{
	endure(forge_answers, submit_until_broken, NR_HONEST);
}

TEST(a_server_endures_forged_requests)
{
	endure(forge_requests, serve_until_broken, NR_HONEST);
}

TEST(a_server_endures_more_requests_than_slots)
{
	endure(flood_requests, serve_until_broken, NR_HONEST);
}

TEST(a_submitter_endures_a_change_of_its_count)
{
	endure(change_count_of_submitter, submit_until_broken,
	       NR_HONEST - DEPTH);
}

TEST(a_server_endures_a_change_of_its_count)
{
	endure(change_count_of_server, serve_until_broken, NR_HONEST - DEPTH);
}

/* A process that attaches meanwhile gets a sound ring, or an error. */
static void attach_beside(void (*scribble)(unsigned char *memory))
{
	uint64_t end_ns = test_now_ns() + 200000000;

	fd = request_ring_create(&ring, "hostile", DEPTH, SLOT);
	CHECK_GE(fd, 0);
	fork_hostile(scribble);
	while (test_now_ns() < end_ns) {
		struct request_ring again;

		if (request_ring_attach(&again, fd) == 0) {
			CHECK_EQ(again.size, ring.size);
			CHECK_EQ(request_ring_size(again.depth,
						   again.slot_size),
				 again.size);
			CHECK(again.life);
			CHECK_EQ(again.version, REQUEST_RING_VERSION);
		}
		request_ring_detach(&again);
	}
	end_hostile();
	request_ring_detach(&ring);
	os_close(fd);
}

TEST(an_attach_endures_random_bits)
{
	attach_beside(scribble_a_bit);
}

TEST(an_attach_endures_wrong_sizes)
{
	attach_beside(scribble_sizes);
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

static void wait_in_vain(void)
{
	for (int i = 0; i < 20; i++)
		CHECK_EQ(entry_ring_await(&ring.memory->completed, 0, 0,
					  os_now() + 1000000),
			 -ETIMEDOUT);
}

TEST(a_deadline_holds_although_the_word_changes)
{
	fd = request_ring_create(&ring, "hostile", DEPTH, SLOT);
	CHECK_GE(fd, 0);
	fork_hostile(change_bits);
	wait_in_vain();
	end_hostile();
	request_ring_detach(&ring);
	os_close(fd);
}

/* No sleep ever begins, so the kernel never says that the time is over. */
TEST(a_deadline_holds_although_the_word_changes_before_each_sleep)
{
	fd = request_ring_create(&ring, "hostile", DEPTH, SLOT);
	CHECK_GE(fd, 0);
	before_sleep = change_bits;
	wait_in_vain();
	request_ring_detach(&ring);
	os_close(fd);
}
