/* SPDX-License-Identifier: MIT */
/*
 * actor_post.c - src/actor/mail/post.c: a post is either sent or cancelled, once; a
 * canceller that was told so finds the post sent; no message comes after the cancel
 * of a periodic post; and no thread touches the timers of a worker that is gone.
 *
 * Complete for a post that is due, fired by one thread, against one or two
 * cancellers; for a periodic post, fired twice, against a canceller; for the end of
 * the worker against a canceller; for a number that goes ahead of the chunk of its
 * post; for an old number against a new post in the same place; and for a place that
 * has had its last generation.  The pool is of src/mem/object_pool.c, filled before, except
 * where the chunk matters.  Not seen: two threads that fire, since a due post comes
 * out of the timers once (core_timer.c).
 */
#include "core/sched/place.h"
#include "payload.h"
#include "selves.h"

#include "actor/mail/post.c"
#include "os/map.h"

#include <string.h>

#define START_NS 1000000000ull /* when virtual time begins */
#define PID 1

static struct worker *keeper;
static struct {
	_Alignas(64) char memory[CHUNK_POSTS * POST_SIZE];
} chunk;
static sley_post id;   /* of the post that exists from the beginning */
static sley_post told; /* of a new post; passed on without order */
static struct sley_msg message;
static struct payload sent;
static struct process places[PID + 1];
static struct ledger {
	int no_memory; /* so many copies fail */
	int nr_sent, nr_cancelled, nr_late, nr_freed, nr_puts;
	bool quiet; /* nothing may be sent any more */
} ledger;

/* ---- the rest of the runtime ------------------------------------------------------ */

void *(os_map)(size_t size)
{
	MODEL_CHECK(size == sizeof(chunk.memory));
	return model_mapped(chunk.memory, size);
}

void os_unmap(void *memory, size_t size)
{
	(void)memory;
	(void)size;
	MODEL_CHECK(false);
}

void *sley__process_table[TABLE_CHUNKS];

int template_create(struct sley_msg **pattern, uint64_t tag, const void *data,
		    size_t size)
{
	(void)tag;
	(void)data;
	(void)size;
	*pattern = &message;
	return 0;
}

struct sley_msg *template_copy(const struct sley_msg *pattern)
{
	MODEL_CHECK(pattern == &message);
	if (!ledger.no_memory)
		return &message;
	ledger.no_memory--;
	return NULL;
}

int template_send(sley_pid to, struct sley_msg *msg)
{
	MODEL_CHECK(to == PID && msg == &message);
	MODEL_CHECK(!ledger.quiet);
	payload_write(&sent);
	ledger.nr_sent++;
	return 0;
}

void mail_free(struct sley_msg *msg)
{
	MODEL_CHECK(msg == &message);
	ledger.nr_freed++;
}

struct worker *alarm_keeper(const struct strand *strand)
{
	(void)strand;
	return keeper;
}

void alarm_announce(struct worker *worker)
{
	MODEL_CHECK(worker == keeper);
}

int after_fork_error(void)
{
	return -1;
}

/* ---- the scene ---------------------------------------------------------------------- */

static struct post *first(void)
{
	return (struct post *)(void *)chunk.memory;
}

static void setup_nothing(void)
{
	selves_set(&(struct self){ 0 });
	memset(&chunk, 0, sizeof(chunk));
	memset(chunks, 0, sizeof(chunks[0]));
	nr_chunks = 0;
	pool = (struct object_pool){ .object_size = POST_SIZE,
				     .chunk_objects = CHUNK_POSTS,
				     .adopt = adopt };
	keeper = model_alloc(sizeof(*keeper));
	timers_init(&keeper->timers);
	ledger = (struct ledger){ 0 };
	model_ledger(&ledger, sizeof(ledger));
	sent = (struct payload){ 0 };
	id = told = 0;
	sley__process_table[0] = places;
	places[PID].pid = PID;
	model_lock_word(&pool.lock.word);
	model_lock_word(&keeper->timers.lock.word);
	model_lock_word(&first()->lock.word);
	model_name(&pool.lock.word, "pool");
	model_name(&keeper->timers.lock.word, "timers");
	model_name(&keeper->timers.next_ns, "next_ns");
	model_name(&first()->lock.word, "post");
	model_name(&first()->word, "word");
	model_name(&chunks[0], "chunk");
	model_name(&told, "told");
}

static sley_post post_it(uint64_t when_ns, uint64_t interval_ns)
{
	sley_post number = 0;

	MODEL_CHECK(start(keeper, PID, &message, when_ns, interval_ns,
			  &number) == 0);
	MODEL_CHECK(number != 0);
	return number;
}

static void setup_once(void)
{
	setup_nothing();
	id = post_it(START_NS + 10, 0);
}

static void setup_again(void)
{
	setup_nothing();
	id = post_it(START_NS + 10, 10);
}

/* No task waits here. */
void task_enqueue_chain(struct sley_task *chain)
{
	MODEL_CHECK(!chain);
}

static void fire(int thread)
{
	(void)thread;
	model_advance(10);
	timers_fire(&keeper->timers, os_now());
}

static void fire_twice(int thread)
{
	fire(thread);
	fire(thread);
}

static void cancel(int thread)
{
	(void)thread;
	if (!sley_post_cancel(id)) {
		ledger.nr_cancelled++;
		return;
	}
	ledger.nr_late++;
}

/* The post was sent, and is not still being sent. */
static void cancel_alone(int thread)
{
	cancel(thread);
	if (ledger.nr_late)
		payload_check(&sent);
}

static void cancel_for_good(int thread)
{
	(void)thread;
	MODEL_CHECK(sley_post_cancel(id) == 0);
	ledger.nr_cancelled++;
	ledger.quiet = true;
}

/* The post is free, and in the pool once. */
static void is_free(void)
{
	MODEL_CHECK(state_of(first()) == POST_FREE);
	MODEL_CHECK(generation_of(first()) == 1);
	MODEL_CHECK(pool.rest == (void *)first());
	MODEL_CHECK(!pool.rest->next);
	MODEL_CHECK(sley_post_cancel(id) == -ENOENT);
}

static void finish_once(void)
{
	MODEL_CHECK(ledger.nr_sent + ledger.nr_cancelled == 1);
	MODEL_CHECK(ledger.nr_freed == ledger.nr_cancelled);
	is_free();
	model_free(keeper);
}

MODEL(it_is_sent_or_cancelled, .setup = setup_once,
      .threads = { fire, cancel_alone }, .finish = finish_once);

MODEL(one_of_two_cancels_it, .setup = setup_once,
      .threads = { fire, cancel, cancel }, .finish = finish_once);

static void finish_again(void)
{
	MODEL_CHECK(ledger.nr_cancelled == 1);
	MODEL_CHECK(ledger.nr_freed == 1); /* the pattern */
	is_free();
	model_free(keeper);
}

MODEL(an_interval_is_over_when_it_is_cancelled, .setup = setup_again,
      .threads = { fire_twice, cancel_for_good }, .finish = finish_again);

/* ---- no memory for one of many posts, and no receiver ------------------------------------ */

static void fire_without_memory(int thread)
{
	ledger.no_memory = 1;
	fire(thread);
	MODEL_CHECK(ledger.nr_sent == 0 && state_of(first()) == POST_SET);
	fire(thread);
	MODEL_CHECK(ledger.nr_sent == 1 && state_of(first()) == POST_SET);
	store_relaxed(&places[PID].pid, SLEY_NO_PID);
	ledger.no_memory = 1;
	fire(thread);
	MODEL_CHECK(ledger.nr_sent == 1);
}

static void finish_gone(void)
{
	MODEL_CHECK(ledger.nr_freed == 1);
	is_free();
	model_free(keeper);
}

MODEL(a_time_without_memory_is_left_out, .setup = setup_again,
      .threads = { fire_without_memory }, .finish = finish_gone);

/* ---- the end of the worker -------------------------------------------------------------- */

static void end(int thread)
{
	(void)thread;
	timers_end(&keeper->timers);
	model_free(keeper);
}

static void finish_end(void)
{
	MODEL_CHECK(ledger.nr_sent == 0);
	MODEL_CHECK(ledger.nr_freed == 1);
	is_free();
}

MODEL(a_worker_ends_with_its_posts, .setup = setup_once,
      .threads = { end, cancel }, .finish = finish_end);

/* ---- numbers ------------------------------------------------------------------------------ */

static void post_first(int thread)
{
	(void)thread;
	store_relaxed(&told, post_it(START_NS + 10, 0));
}

/* A thread with the number finds the post, or does not know of the post yet. */
static void cancel_told(int thread)
{
	(void)thread;
	id = load_relaxed(&told);
	if (id)
		cancel(thread);
}

static void finish_first(void)
{
	MODEL_CHECK(ledger.nr_freed == ledger.nr_cancelled);
	MODEL_CHECK(generation_of(first()) == (uint32_t)ledger.nr_cancelled);
	MODEL_CHECK((state_of(first()) == POST_FREE) == ledger.nr_cancelled);
	model_free(keeper);
}

MODEL(a_number_goes_ahead_of_its_chunk, .setup = setup_nothing,
      .threads = { post_first, cancel_told }, .finish = finish_first);

static void setup_old(void)
{
	setup_once();
	MODEL_CHECK(sley_post_cancel(id) == 0);
	ledger.nr_freed = 0;
}

static void finish_old(void)
{
	MODEL_CHECK(ledger.nr_late == 1 && ledger.nr_freed == 0);
	MODEL_CHECK(state_of(first()) == POST_SET);
	MODEL_CHECK(told != id && (uint32_t)told == (uint32_t)id);
	model_free(keeper);
}

MODEL(an_old_number_does_not_cancel_a_new_post, .setup = setup_old,
      .threads = { post_first, cancel }, .finish = finish_old);

/* The place of the post has its last generation. */
static void setup_last(void)
{
	setup_once();
	first()->word = table_word(UINT32_MAX, POST_SET);
	id = table_word(UINT32_MAX, (uint32_t)id);
}

static void finish_last(void)
{
	MODEL_CHECK(ledger.nr_cancelled + ledger.nr_late == 2);
	MODEL_CHECK(ledger.nr_cancelled == 1 && ledger.nr_freed == 1);
	MODEL_CHECK(state_of(first()) == POST_FREE && !pool.rest);
	MODEL_CHECK(sley_post_cancel(id) == -ENOENT);
	model_free(keeper);
}

MODEL(a_place_that_is_used_up_is_not_used_again, .setup = setup_last,
      .threads = { cancel, cancel }, .finish = finish_last);
