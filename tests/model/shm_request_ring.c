/* SPDX-License-Identifier: MIT */
/*
 * shm_request_ring.c - the two rings of src/shm/request_ring.h between a submitter and
 * a server: no request and no answer is lost, whichever side sleeps when and how.
 *
 * The two processes are threads.  The eventfd of the kernel is a word with a futex
 * here, with the order of the kernel's lock.  Neither side spins first: each side goes
 * to sleep as soon as possible.  Where several threads of a process wait, each counts
 * for itself.
 *
 * Complete for two requests, in a ring of two slots and of one, and for the schedules
 * of three threads with up to three delays.  The count wraps.  The models do not write
 * nonsense, and no thread dies: tests/unit/shm_request_ring.c and
 * tests/stress/request_ring_hostile.c do that.  The data of a slot is copied by
 * memcpy(), which the explorer does not see; the entries show the same edge.
 */
#include "explorer.h"

#include "shm/request_server.h"
#include "shm/request_submitter.h"

#define DEPTH 2
#define FIRST COUNT_WORD_MASK

static union {
	struct request_memory memory;
	unsigned char bytes[sizeof(struct request_memory) +
			    2 * DEPTH * sizeof(struct ring_entry)];
} shared;

static union {
	struct request_submitter submitter;
	unsigned char bytes[sizeof(struct request_submitter) +
			    DEPTH * sizeof(struct request_pending)];
} private;

static struct request_submitter *const submitter = &private.submitter;
static struct request_server server;
static struct entry_reader readers; /* constant */
static uint32_t submitter_eventfd, server_eventfd;
static int nr_collected, nr_taken, nr_returned;

static void begin(uint32_t depth)
{
	struct request_ring ring = { .memory = &shared.memory,
				     .depth = depth,
				     .size = request_ring_size(depth, 0) };

	request_ring_begin_life(&ring, 1, FIRST);
	request_submitter_init(submitter, &ring);
	request_server_init(&server, &ring);
	readers = server.submissions;
	submitter_eventfd = server_eventfd = 0;
	nr_collected = nr_taken = nr_returned = 0;
	model_name(&shared.memory.submitted, "submitted");
	model_name(&shared.memory.completed, "completed");
	model_name(&shared.memory.begun, "begun");
	model_name(&submitter_eventfd, "submitter's eventfd");
	model_name(&server_eventfd, "server's eventfd");
}

static void two_slots(void)
{
	begin(2);
}

static void one_slot(void)
{
	begin(1);
}

/* ---- the eventfd ----------------------------------------------------------------- */

static void eventfd_signal(uint32_t *eventfd)
{
	(void)xchg_release(eventfd, 1);
	os_futex_wake(eventfd, 1);
}

static void eventfd_await(uint32_t *eventfd)
{
	while (!xchg_acquire(eventfd, 0))
		(void)os_futex_wait(eventfd, 0, UINT64_MAX);
}

/* ---- how a side waits, and is told --------------------------------------------- */

static void sleep_on(const struct entry_reader *reader)
{
	int err = entry_ring_await(reader->word, entry_ring_seen(reader), 0,
				   UINT64_MAX);

	MODEL_CHECK(err == 0);
}

static void watch(const struct entry_reader *reader, uint32_t *eventfd)
{
	if (!entry_ring_watch(reader->word, entry_ring_seen(reader)))
		eventfd_await(eventfd);
}

static void tell_server(int bits)
{
	MODEL_CHECK(bits >= 0);
	if (entry_ring_tell(&shared.memory.submitted, bits))
		eventfd_signal(&server_eventfd);
}

static void tell_submitter(int bits)
{
	MODEL_CHECK(bits >= 0);
	if (entry_ring_tell(&shared.memory.completed, bits))
		eventfd_signal(&submitter_eventfd);
}

/* ---- the server ------------------------------------------------------------------ */

static void answer(const struct request *request)
{
	int err = request_put_answer(&server, request, request->value + 1, NULL,
				     0);

	MODEL_CHECK(err == 0);
	tell_submitter(request_publish_answers(&server));
}

/* Takes the next request.  False: there will be none. */
static bool take(struct request *request, bool watches)
{
	for (;;) {
		int nr = request_take(&server, request, NULL);

		MODEL_CHECK(nr >= 0);
		if (nr) {
			MODEL_CHECK(request->value == 10u + (uint32_t)nr_taken);
			nr_taken++;
			return true;
		}
		if (server.submissions.stopped)
			return false;
		if (watches)
			watch(&server.submissions, &server_eventfd);
		else
			sleep_on(&server.submissions);
	}
}

/* The second request is answered first. */
static void serve_in_reverse(int id)
{
	struct request first, second, third;

	(void)id;
	MODEL_CHECK(take(&first, false));
	MODEL_CHECK(take(&second, false));
	answer(&second);
	answer(&first);
	MODEL_CHECK(!take(&third, false));
}

static void serve_in_order(int id)
{
	struct request request;

	(void)id;
	for (int i = 0; i < 2; i++) {
		MODEL_CHECK(take(&request, false));
		answer(&request);
	}
}

static void serve_by_eventfd(int id)
{
	struct request request;

	(void)id;
	while (take(&request, true))
		answer(&request);
}

/* ---- the submitter --------------------------------------------------------------- */

static int put(uint64_t value)
{
	struct request_submission what = { .value = value,
					   .owner = &nr_collected };
	uint64_t id;

	return request_submit(submitter, &what, &id);
}

static void submit(uint64_t value)
{
	int err = put(value);

	MODEL_CHECK(err == 0);
	tell_server(request_publish(submitter));
}

static void collect_all(void)
{
	struct request_answer got;
	int nr;

	while ((nr = request_collect(submitter, &got, NULL)) != 0) {
		MODEL_CHECK(nr == 1);
		MODEL_CHECK(got.value == 11 + (uint32_t)(got.id - FIRST));
		MODEL_CHECK(got.owner == &nr_collected);
		nr_collected++;
	}
}

static void collect_two(void)
{
	collect_all();
	while (nr_collected < 2) {
		sleep_on(&submitter->completions);
		collect_all();
	}
}

static void submit_two_at_once(int id)
{
	int err;

	(void)id;
	err = put(10);
	MODEL_CHECK(err == 0);
	submit(11);
	collect_two();
	tell_server(request_submitter_stop(submitter));
}

static void submit_one_by_one(int id)
{
	(void)id;
	submit(10);
	submit(11);
	collect_two();
}

static void finish(void)
{
	MODEL_CHECK(nr_collected == 2);
	MODEL_CHECK(nr_taken == 2);
	MODEL_CHECK(submitter->nr_pending == 0);
}

MODEL(two_requests_are_answered_in_reverse, .setup = two_slots,
      .threads = { submit_two_at_once, serve_in_reverse }, .finish = finish);

MODEL(two_requests_one_by_one_are_answered, .setup = two_slots,
      .threads = { submit_one_by_one, serve_in_order }, .finish = finish);

/* Nothing but eventfds. */
static void submit_by_eventfd(int id)
{
	(void)id;
	submit(10);
	submit(11);
	collect_all();
	while (nr_collected < 2) {
		watch(&submitter->completions, &submitter_eventfd);
		collect_all();
	}
	tell_server(request_submitter_stop(submitter));
}

MODEL(two_pollers_miss_nothing, .setup = two_slots,
      .threads = { submit_by_eventfd, serve_by_eventfd }, .finish = finish);

/* A ring of one slot is full after the first request. */
static void submit_into_a_full_ring(int id)
{
	int err;

	(void)id;
	submit(10);
	while ((err = put(11)) == -EAGAIN) {
		MODEL_CHECK(nr_collected == 0);
		sleep_on(&submitter->completions);
		collect_all();
	}
	MODEL_CHECK(err == 0);
	tell_server(request_publish(submitter));
	collect_two();
}

MODEL(a_full_ring_gets_room, .setup = one_slot,
      .threads = { submit_into_a_full_ring, serve_in_order }, .finish = finish);

/* ---- the server stops ----------------------------------------------------------- */

/* Takes none or one of two requests, and answers before its stop or after. */
static void serve_and_stop(int id)
{
	bool takes = model_choose(2), first = model_choose(2);
	struct request request;

	(void)id;
	if (takes)
		MODEL_CHECK(take(&request, false));
	if (takes && first)
		answer(&request);
	tell_submitter(request_server_stop(&server));
	if (takes && !first)
		answer(&request);
	MODEL_CHECK(request_take(&server, &request, NULL) == 0);
}

static void take_back(void)
{
	struct request_retreat retreat;
	struct request_remnant remnant;

	if (!submitter->completions.stopped)
		return;
	request_retreat_init(&retreat, submitter, false);
	while (request_take_back(submitter, &retreat, &remnant)) {
		MODEL_CHECK(!remnant.begun);
		MODEL_CHECK(remnant.owner == &nr_collected);
		nr_returned++;
	}
	MODEL_CHECK(put(12) == -EPIPE);
}

static void submit_to_a_stopping_server(int id)
{
	(void)id;
	submit(10);
	submit(11);
	for (;;) {
		collect_all();
		take_back();
		if (!submitter->nr_pending)
			break;
		sleep_on(&submitter->completions);
	}
}

static void finish_stopped(void)
{
	MODEL_CHECK(nr_collected == nr_taken);
	MODEL_CHECK(nr_returned == 2 - nr_taken);
}

MODEL(what_a_stopped_server_has_not_begun_comes_back, .setup = two_slots,
      .threads = { submit_to_a_stopping_server, serve_and_stop },
      .finish = finish_stopped);

/* ---- several threads of a process wait ------------------------------------------- */

static void publish_two(int id)
{
	(void)id;
	submit(10);
	submit(11);
}

/* Waits for both entries, by a private reader. */
static void await_two(bool watches)
{
	struct entry_reader reader = readers;
	uint64_t end = reader.nr + 2;

	for (;;) {
		int more = entry_ring_look(&reader, 2);

		MODEL_CHECK(more >= 0);
		reader.nr += (uint64_t)more;
		if (reader.nr == end)
			return;
		if (watches) {
			watch(&reader, &server_eventfd);
			continue;
		}
		sleep_on(&reader);
		/* It has not returned in vain. */
		MODEL_CHECK(entry_ring_is_news(count_word_load(reader.word),
					       entry_ring_seen(&reader)));
	}
}

static void sleeper(int id)
{
	(void)id;
	await_two(false);
}

static void watcher(int id)
{
	(void)id;
	await_two(true);
}

MODEL(two_sleepers_are_woken, .setup = two_slots,
      .threads = { publish_two, sleeper, sleeper }, .delays = 3,
      .slow_modes = MODEL_RA);

MODEL(a_sleeper_and_a_watcher_are_told, .setup = two_slots,
      .threads = { publish_two, sleeper, watcher }, .delays = 3);

/* Nothing is published. */
static void await_in_vain(int id)
{
	int err = entry_ring_await(readers.word, entry_ring_seen(&readers), 0,
				   os_now() + 5);

	(void)id;
	MODEL_CHECK(err == -ETIMEDOUT);
}

MODEL(a_deadline_ends_a_wait, .setup = two_slots, .threads = { await_in_vain });

/* ---- the other process is dead ---------------------------------------------------- */

static int noted; /* by the thread that notices the death, for all that wait */

static void nothing_is_noted(void)
{
	two_slots();
	noted = 0;
}

static void await_end(int id)
{
	struct request request;

	(void)id;
	MODEL_CHECK(!take(&request, false));
	MODEL_CHECK(noted == 7);
}

static void watch_end(int id)
{
	struct entry_reader reader = readers;

	(void)id;
	while (entry_ring_look(&reader, 2) == 0 && !reader.stopped)
		watch(&reader, &server_eventfd);
	MODEL_CHECK(reader.stopped && noted == 7);
}

static void notice_death(int id)
{
	(void)id;
	noted = 7;
	if (entry_ring_end(&shared.memory.submitted))
		eventfd_signal(&server_eventfd);
}

MODEL(a_death_ends_all_waits, .setup = nothing_is_noted,
      .threads = { notice_death, await_end, watch_end });

/* ---- the next server --------------------------------------------------------------- */

static struct request_server successor;
static uint32_t handed_over, successor_eventfd; /* each session has its own */

static void two_servers(void)
{
	begin(2);
	handed_over = successor_eventfd = 0;
	model_name(&handed_over, "handed over");
	model_name(&successor_eventfd, "submitter's next eventfd");
}

/* Its answer is the last that it does to the memory. */
static void serve_last(int id)
{
	struct request request;

	(void)id;
	MODEL_CHECK(take(&request, false));
	tell_submitter(request_server_stop(&server));
	answer(&request);
}

/* Something else wakes a submitter that watches: it looks once more, by chance. */
static void collect_until(int nr, bool stopped, uint32_t *eventfd)
{
	bool may_look = model_choose(2);

	for (;;) {
		collect_all();
		if (nr_collected == nr &&
		    (!stopped || submitter->completions.stopped))
			return;
		if (entry_ring_watch(submitter->completions.word,
				     entry_ring_seen(&submitter->completions)))
			continue;
		if (!may_look)
			eventfd_await(eventfd);
		may_look = false;
	}
}

/* The server has stopped, and has answered: the ring is the next one's. */
static void give_to_successor(int id)
{
	(void)id;
	submit(10);
	collect_until(1, true, &submitter_eventfd);
	request_submitter_begin(submitter, 2);
	request_server_init(&successor, &submitter->ring);
	eventfd_signal(&handed_over);
	submit(11);
	collect_until(2, false, &successor_eventfd);
}

static void succeed(int id)
{
	struct request request;
	int err, nr;

	(void)id;
	eventfd_await(&handed_over);
	while ((nr = request_take(&successor, &request, NULL)) == 0)
		sleep_on(&successor.submissions);
	MODEL_CHECK(nr == 1);
	nr_taken++;
	err = request_put_answer(&successor, &request, request.value + 1, NULL,
				 0);
	MODEL_CHECK(err == 0);
	if (entry_ring_tell(&shared.memory.completed,
			    request_publish_answers(&successor)))
		eventfd_signal(&successor_eventfd);
}

MODEL(a_ring_is_given_to_the_next_server, .setup = two_servers,
      .threads = { give_to_successor, serve_last, succeed }, .finish = finish,
      .delays = 3);

static void after_a_server(void)
{
	two_servers();
	MODEL_CHECK(request_server_stop(&server) >= 0);
	collect_all();
	MODEL_CHECK(submitter->completions.stopped);
}

static void give_and_await_the_stop(int id)
{
	(void)id;
	request_submitter_begin(submitter, 2);
	request_server_init(&successor, &submitter->ring);
	eventfd_signal(&handed_over);
	collect_until(0, true, &successor_eventfd);
}

/* Its word is in the ring before the submitter has used the ring again. */
static void stop_at_once(int id)
{
	(void)id;
	eventfd_await(&handed_over);
	if (entry_ring_tell(&shared.memory.completed,
			    request_server_stop(&successor)))
		eventfd_signal(&successor_eventfd);
}

MODEL(the_next_server_stops_at_once, .setup = after_a_server,
      .threads = { give_and_await_the_stop, stop_at_once });
