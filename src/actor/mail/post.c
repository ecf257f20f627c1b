/* SPDX-License-Identifier: MIT */
/*
 * post.c - messages that are sent later: alarms (core/wait/timer.h) that send.
 *
 * The alarm of a post is kept by a worker of who asked for it, and rings there or
 * on the monitor's thread.  What is to be sent exists from the beginning; only one
 * that is sent again and again is copied each time, and if there is no memory for
 * that, this time is left out.
 *
 * Posts live in a pool whose chunks are found by number and never freed; a post is
 * {generation, index + 1}, and a generation is used once.
 *
 *   FREE      nobody's
 *   SET       in the timers, or about to ring
 *   STOPPED   cancelled, but about to ring: then it is freed
 *   SENDING   it rings: sent in this moment
 *   LAST      the same, of one that would be sent again, but was cancelled
 *
 *   FREE    -> SET      [start]   and the alarm is started
 *   SET     -> FREE     [cancel]  if the alarm can be stopped
 *   SET     -> STOPPED  [cancel]  if not
 *   STOPPED -> FREE     [ring]
 *   SET     -> SENDING  [ring]
 *   SENDING -> FREE     [ring]    it was to be sent once, or the process is gone
 *   SENDING -> SET      [ring]    and the alarm is started again
 *   SENDING -> LAST     [cancel]
 *   LAST    -> FREE     [ring]
 *
 * All of that is under the lock of the post; that of the timers is taken inside it.
 * So of cancel and ring one is first.  Who cancels while it is being sent waits for
 * the end of that: it takes a moment, and afterwards nothing comes any more.  (The
 * thread that sends may be who cancels: the function that frees a message which a
 * full mailbox drops is the user's.  Then there is nothing to wait for.)
 *
 * When its worker ends the alarm rings for the last time (timers_end()), and the
 * post is dropped.  So while a post is locked, and SET, its worker is there: before
 * it goes the post would have to be locked by who rings.
 *
 * Edges:
 *
 *   O1  a post is freed -> who cancels and waits for that sees so : it was sent
 *   O2  a chunk is adopted -> post_at() reads its address : the chunk is mapped
 *
 * Rejected: a list of posts in each runtime, for its end (the timers know them
 * already); to let a cancelled one stay in the timers until its time comes (which
 * may be never).
 */
#include "actor/mail/template.h"
#include "actor/process/process.h"
#include "core/wait/alarm.h"
#include "core/life/after_fork.h"
#include "mem/pool.h"
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

/* The first two words are the pool's while it is free. */
struct post {
	struct alarm alarm;
	struct spinlock lock;
	uint32_t index; /* constant                           */
	uint64_t word;  /* generation, enum post_state        */
	sley_pid to;
	uint64_t interval_ns;  /* 0: once                            */
	struct sley_msg *msg;  /* to be sent; or its pattern         */
	const struct self *by; /* SENDING, LAST: the thread that does */
};

#define POST_SIZE 128
_Static_assert(sizeof(struct post) <= POST_SIZE, "posts come from a pool");

#define CHUNK_POSTS 64u
#define CHUNKS (1u << 18)

static char *chunks[CHUNKS];
static uint32_t nr_chunks; /* under the lock of the pool, see pool.h */

/* ---- the word: written under the lock ---------------------------------------------- */

static uint64_t word_of(uint32_t generation, enum post_state state)
{
	return (uint64_t)generation << 32 | (uint32_t)state;
}

static enum post_state state_of(const struct post *post)
{
	/* relaxed: it is locked. */
	return (enum post_state)(uint32_t)load_relaxed(&post->word);
}

static uint32_t generation_of(const struct post *post)
{
	/* relaxed: it is locked. */
	return (uint32_t)(load_relaxed(&post->word) >> 32);
}

static void set_state(struct post *post, enum post_state state)
{
	/* relaxed: it is locked; who waits does so for the next generation. */
	store_relaxed(&post->word, word_of(generation_of(post), state));
}

/* ---- where they are ------------------------------------------------------------------ */

static struct post *post_in(char *chunk, uint32_t i)
{
	return (struct post *)(void *)(chunk + (size_t)i * POST_SIZE);
}

static bool adopt(struct pool *pool, void *chunk)
{
	(void)pool;
	if (nr_chunks == CHUNKS)
		return false;
	for (uint32_t i = 0; i < CHUNK_POSTS; i++)
		post_in(chunk, i)->index = nr_chunks * CHUNK_POSTS + i;
	store_release(&chunks[nr_chunks], chunk); /* O2 */
	nr_chunks++;
	return true;
}

static struct pool pool = {
	.object_size = POST_SIZE,
	.chunk_objects = CHUNK_POSTS,
	.adopt = adopt,
};

/* ---- fork() ------------------------------------------------------------------- */

/*
 * In a child: the timers that posts are in are lost, and so are the threads that have
 * a post's lock.  No chunk is being adopted: the lock of the pools is held.
 */
static void renew_posts(void)
{
	for (uint32_t i = 0; i < nr_chunks * CHUNK_POSTS; i++) {
		struct post *post =
			post_in(chunks[i / CHUNK_POSTS], i % CHUNK_POSTS);

		/* A page that is not written is not copied. */
		if (state_of(post) != POST_FREE)
			post->word =
				word_of(generation_of(post) + 1, POST_FREE);
		/* relaxed: there is one thread. */
		if (load_relaxed(&post->lock.word))
			spin_unlock(&post->lock);
	}
}

FORK_PART(FORK_POSTS, .renew = renew_posts);

/* ---- ids ------------------------------------------------------------------------ */

/* Locked, or its own. */
static sley_post id_of(const struct post *post)
{
	return (uint64_t)generation_of(post) << 32 | (post->index + 1);
}

static struct post *post_at(sley_post id)
{
	uint32_t index = (uint32_t)id - 1;
	char *chunk = NULL;

	if (index / CHUNK_POSTS < CHUNKS)
		chunk = load_acquire(&chunks[index / CHUNK_POSTS]); /* O2 */
	return chunk ? post_in(chunk, index % CHUNK_POSTS) : NULL;
}

/* Locked, and not in the timers; unlocks it.  What is left of it is freed. */
static void post_free(struct post *post)
{
	uint32_t generation = generation_of(post) + 1;
	struct sley_msg *msg = post->msg;

	store_release(&post->word, word_of(generation, POST_FREE)); /* O1 */
	spin_unlock(&post->lock);
	spin_done(&post->word);
	if (msg)
		mail_free(msg);
	if (generation)
		pool_put(&pool, NULL, post);
}

/* ---- ringing ---------------------------------------------------------------------- */

static struct worker *keeper_of(const struct post *post)
{
	return container_of(post->alarm.timer.timers, struct worker, timers);
}

/* Nothing to hold: the lock of the post tells. */
static void hold(struct alarm *alarm)
{
	(void)alarm;
}

/* From the time it was due; those that are past are left out. */
static uint64_t next_time(uint64_t due_ns, uint64_t interval_ns)
{
	uint64_t now_ns = os_now();

	if (due_ns < now_ns)
		due_ns += (now_ns - due_ns) / interval_ns * interval_ns;
	return due_ns > UINT64_MAX - interval_ns ? UINT64_MAX
						 : due_ns + interval_ns;
}

/* False: for the last time. */
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
			       next_time(alarm->timer.node.key,
					 post->interval_ns));
	spin_unlock(&post->lock);
	if (earliest)
		alarm_announce(keeper);
}

/* ---- posting ------------------------------------------------------------------------ */

/* @msg is the post's. */
static int start(struct worker *keeper, sley_pid to, struct sley_msg *msg,
		 uint64_t when_ns, uint64_t interval_ns, sley_post *id)
{
	struct post *post = pool_get(&pool, NULL);
	bool earliest;

	if (!post) {
		mail_free(msg);
		return -ENOMEM;
	}
	/* Somebody with an old id may be looking. */
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

/* What is to be sent, and who keeps the time. */
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
		err = start(keeper, to, msg, next_time(os_now(), interval_ns),
			    interval_ns, &id);
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

/* What is being sent for the last time has been sent, and is freed. */
static void await_sent(const struct post *post, uint32_t generation)
{
	uint32_t nr_looks = 0;

	while (load_acquire(&post->word) >> 32 == generation) { /* O1 */
		spin_hint(&post->word);
		spin_wait(&post->word, word_is_sending, nr_looks++);
	}
}

/* Locked.  Returns 0 if it was cancelled by this. */
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
	uint32_t generation = (uint32_t)(id >> 32);
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
