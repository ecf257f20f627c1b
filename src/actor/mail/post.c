/* SPDX-License-Identifier: MIT */
/*
 * post.c - delayed messages: alarms (core/wait/timer.h) that send.
 *
 * The alarm of a delayed message is kept by a worker of the caller, and rings
 * there or on the monitor's thread.  The message exists from the beginning.  Only
 * a message that is sent repeatedly is copied each time; if there is no memory
 * for the copy, this time is left out.
 *
 * Delayed messages live in a pool whose chunks are the chunks of a table
 * (mem/table.h).  The id of a delayed message is {generation, index + 1}, and a
 * generation is used once.
 *
 *   FREE      not in use
 *   SET       in the timers, or about to ring
 *   STOPPED   cancelled, but about to ring: then it is freed
 *   SENDING   the alarm rings: the message is being sent
 *   LAST      the same, of a repeated message that was cancelled
 *
 *   FREE    -> SET      [start]   and the alarm is started
 *   SET     -> FREE     [cancel]  if the alarm can be stopped
 *   SET     -> STOPPED  [cancel]  if not
 *   STOPPED -> FREE     [ring]
 *   SET     -> SENDING  [ring]
 *   SENDING -> FREE     [ring]    not repeated, or the receiver is gone
 *   SENDING -> SET      [ring]    and the alarm is started again
 *   SENDING -> LAST     [cancel]
 *   LAST    -> FREE     [ring]
 *
 * All transitions are under the lock of the delayed message; the lock of the
 * timers is taken inside this lock.  So either cancel or ring is first.  A
 * canceller that comes while the message is being sent waits for the end of the
 * send: this takes a moment, and afterwards no message comes any more.  (The
 * sending thread may be the canceller: a full mailbox drops a message, and the
 * user's free function cancels.  Then there is nothing to wait for.)
 *
 * When the worker ends the alarm rings for the last time (timers_end()), and the
 * delayed message is dropped.  So while a delayed message is locked, and SET, its
 * worker exists: before the worker goes, the ring has to lock the delayed
 * message.
 *
 * Edges:
 *
 *   PO1  a delayed message is freed -> a canceller that waits sees so : it was sent
 *
 * Rejected: a list of delayed messages in each runtime, for the end of the
 * runtime (the timers know them already); to let a cancelled message stay in the
 * timers until its time comes (which may be never).
 */
#include "actor/mail/template.h"
#include "actor/process/process.h"
#include "core/wait/alarm.h"
#include "core/life/after_fork.h"
#include "mem/object_pool.h"
#include "mem/table.h"
#include "os/clock.h"
#include "os/at_fork.h"

#include <errno.h>
#include <sley/post.h>

enum post_state {
	POST_FREE,
	POST_SET,
	POST_STOPPED,
	POST_SENDING,
	POST_LAST,
};

/* The first two words are the pool's while the struct is free. */
struct post {
	struct alarm alarm;
	struct spinlock lock;
	uint32_t index; /* constant                           */
	uint64_t word;  /* generation, enum post_state        */
	sley_pid to;
	uint64_t interval_ns;  /* 0: once                            */
	struct sley_msg *msg;  /* to be sent; or its pattern         */
	const struct self *by; /* SENDING, LAST: the sending thread   */
};

#define POST_SIZE 128
_Static_assert(sizeof(struct post) <= POST_SIZE, "posts come from a pool");

#define CHUNK_POSTS 64u
#define CHUNKS (1u << 18)

static void *chunks[CHUNKS];
static uint32_t nr_chunks; /* under the lock of the pool, see object_pool.h */

static const struct table table = {
	.chunk = chunks,
	.max_chunks = CHUNKS,
	.length = CHUNK_POSTS,
	.place_size = POST_SIZE,
};

/* ---- the word: written under the lock ---------------------------------------------- */

static enum post_state state_of(const struct post *post)
{
	/* relaxed: locked. */
	return (enum post_state)(uint32_t)load_relaxed(&post->word);
}

static uint32_t generation_of(const struct post *post)
{
	/* relaxed: locked. */
	return table_generation(load_relaxed(&post->word));
}

/* 0: the generations are used up. */
static uint32_t next_generation(const struct post *post)
{
	return table_next(generation_of(post), UINT32_MAX);
}

static void set_state(struct post *post, enum post_state state)
{
	/* relaxed: locked; a waiting canceller needs only the next generation. */
	store_relaxed(&post->word, table_word(generation_of(post), state));
}

/* ---- the table ----------------------------------------------------------------------- */

static bool adopt(struct object_pool *pool, void *chunk)
{
	uint32_t first = table_first_of(&table, nr_chunks);

	for (uint32_t i = 0; i < CHUNK_POSTS; i++) {
		char *place = (char *)chunk + (size_t)i * pool->object_size;

		((struct post *)(void *)place)->index = first + i;
	}
	if (!table_publish(&table, nr_chunks, chunk))
		return false; /* the table is full */
	nr_chunks++;
	return true;
}

static struct object_pool pool = {
	.object_size = POST_SIZE,
	.chunk_objects = CHUNK_POSTS,
	.adopt = adopt,
};

/* ---- fork() ------------------------------------------------------------------- */

/*
 * In a child of fork(): the timers of all delayed messages are lost, and so are
 * the threads that hold a lock of a delayed message.  No chunk is being adopted:
 * the lock of the pools is held.
 */
static void renew_post(void *place)
{
	struct post *post = place;

	/* A page that is not written is not copied. */
	if (state_of(post) != POST_FREE)
		post->word = table_word(next_generation(post), POST_FREE);
	/* relaxed: there is one thread. */
	if (load_relaxed(&post->lock.word))
		spin_unlock(&post->lock);
}

static void renew_posts(void)
{
	table_walk(&table, table_first_of(&table, nr_chunks), renew_post);
}

FORK_PART(FORK_POSTS, .renew = renew_posts);

/* ---- ids ------------------------------------------------------------------------ */

/* Locked. */
static sley_post id_of(const struct post *post)
{
	return table_word(generation_of(post), post->index + 1);
}

static struct post *post_at(sley_post id)
{
	return table_find(&table, (uint32_t)id - 1);
}

/* Locked, and not in the timers.  Unlocks @post, and frees it with its message. */
static void post_free(struct post *post)
{
	uint32_t generation = next_generation(post);
	struct sley_msg *msg = post->msg;

	store_release(&post->word, table_word(generation, POST_FREE)); /* PO1 */
	spin_unlock(&post->lock);
	spin_done(&post->word);
	if (msg)
		mail_free(msg);
	if (generation)
		object_pool_put(&pool, NULL, post);
}

/* ---- ringing ---------------------------------------------------------------------- */

static struct worker *keeper_of(const struct post *post)
{
	return container_of(post->alarm.timer.timers, struct worker, timers);
}

/* Nothing to hold: the lock of the delayed message is enough. */
static void hold(struct alarm *alarm)
{
	(void)alarm;
}

/* False: this was the last time. */
static bool send(struct post *post)
{
	struct sley_msg *msg = post->msg;

	if (!post->interval_ns) {
		post->msg = NULL;
		(void)template_send(post->to, msg);
		return false;
	}
	msg = template_copy(msg);
	if (!msg)
		return process_find(post->to);
	return template_send(post->to, msg) != -ESRCH;
}

static void ring(struct alarm *alarm)
{
	struct post *post = container_of(alarm, struct post, alarm);
	struct worker *keeper = keeper_of(post);
	bool again, earliest;

	spin_lock(&post->lock);
	if (state_of(post) == POST_STOPPED || keeper->timers.ended) {
		post_free(post);
		return;
	}
	set_state(post, POST_SENDING);
	post->by = &sley__self;
	spin_unlock(&post->lock);
	again = send(post);
	spin_lock(&post->lock);
	if (!again || state_of(post) == POST_LAST) {
		post_free(post);
		return;
	}
	set_state(post, POST_SET);
	earliest = alarm_start(&keeper->timers, alarm,
			       alarm_next_time(alarm->timer.node.key,
					       post->interval_ns));
	spin_unlock(&post->lock);
	if (earliest)
		alarm_announce(keeper);
}

/* ---- posting ------------------------------------------------------------------------ */

/* Takes over @msg. */
static int start(struct worker *keeper, sley_pid to, struct sley_msg *msg,
		 uint64_t when_ns, uint64_t interval_ns, sley_post *id)
{
	struct post *post = object_pool_get(&pool, NULL);
	bool earliest;

	if (!post) {
		mail_free(msg);
		return -ENOMEM;
	}
	/* A canceller with an old id may be looking. */
	spin_lock(&post->lock);
	post->alarm.hold = hold;
	post->alarm.ring = ring;
	post->to = to;
	post->interval_ns = interval_ns;
	post->msg = msg;
	set_state(post, POST_SET);
	*id = id_of(post);
	earliest = alarm_start(&keeper->timers, &post->alarm, when_ns);
	spin_unlock(&post->lock);
	if (earliest)
		alarm_announce(keeper);
	return 0;
}

/* Make the message, and choose the worker that keeps the alarm. */
static int prepare(sley_pid to, uint64_t tag, const void *data, size_t size,
		   struct worker **keeper, struct sley_msg **msg)
{
	*keeper = alarm_keeper(strand_current());
	if (!*keeper)
		return after_fork_error();
	if (!process_find(to))
		return -ESRCH;
	return template_create(msg, tag, data, size);
}

int sley_post_at(sley_pid to, uint64_t tag, const void *data, size_t size,
		 uint64_t when_ns, sley_post *post)
{
	struct worker *keeper;
	struct sley_msg *msg;
	sley_post id = 0;
	int err = prepare(to, tag, data, size, &keeper, &msg);

	if (err)
		return err;
	if (when_ns > os_now())
		err = start(keeper, to, msg, when_ns, 0, &id);
	else if (template_send(to, msg) == -ESRCH)
		err = -ESRCH;
	if (!err && post)
		*post = id;
	return err;
}

int sley_post_every(sley_pid to, uint64_t tag, const void *data, size_t size,
		    uint64_t interval_ns, sley_post *post)
{
	struct worker *keeper;
	struct sley_msg *msg;
	sley_post id;
	int err;

	if (!interval_ns)
		return -EINVAL;
	err = prepare(to, tag, data, size, &keeper, &msg);
	if (!err)
		err = start(keeper, to, msg,
			    alarm_next_time(os_now(), interval_ns), interval_ns,
			    &id);
	if (!err && post)
		*post = id;
	return err;
}

/* ---- cancelling ------------------------------------------------------------------------ */

static bool is_sending(enum post_state state)
{
	return state == POST_SENDING || state == POST_LAST;
}

static bool word_is_sending(const void *word)
{
	/* relaxed: only decides whether to sleep. */
	uint32_t state = (uint32_t)load_relaxed((const uint64_t *)word);

	return is_sending((enum post_state)state);
}

/* Wait until the last send is over, and the delayed message is freed. */
static void await_sent(const struct post *post, uint32_t generation)
{
	uint32_t nr_looks = 0;

	while (table_generation(load_acquire(&post->word)) == /* PO1 */
	       generation) {
		spin_hint(&post->word);
		spin_wait(&post->word, word_is_sending, nr_looks++);
	}
}

/* Locked.  0: this call has cancelled @post. */
static int cancel_locked(struct post *post)
{
	switch (state_of(post)) {
	case POST_SET:
		set_state(post, POST_STOPPED);
		return 0;
	case POST_SENDING:
		if (!post->interval_ns)
			return -ENOENT;
		set_state(post, POST_LAST);
		return 0;
	default:
		return -ENOENT;
	}
}

int sley_post_cancel(sley_post id)
{
	uint32_t generation = table_generation(id);
	struct post *post = post_at(id);
	bool wait;
	int err;

	if (!post)
		return -ENOENT;
	spin_lock(&post->lock);
	if (generation_of(post) != generation) {
		spin_unlock(&post->lock);
		return -ENOENT;
	}
	if (state_of(post) == POST_SET && timer_stop(&post->alarm.timer)) {
		post_free(post);
		return 0;
	}
	err = cancel_locked(post);
	wait = is_sending(state_of(post)) && post->by != &sley__self;
	spin_unlock(&post->lock);
	if (wait)
		await_sent(post, generation);
	return err;
}
