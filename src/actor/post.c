/* SPDX-License-Identifier: MIT */
/*
 * post.c - messages that are sent later: alarms (core/timer.h) that send.
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
 *   O1  a chunk is made -> a post is found there : it is zero, and knows its index
 *
 * Rejected: a list of posts in each runtime, for its end (the timers know them
 * already); to let a cancelled one stay in the timers until its time comes (which
 * may be never).
 */
#include "actor/parcel.h"
#include "actor/process.h"
#include "core/alarm.h"
#include "core/forked.h"
#include "mem/pool.h"
#include "os/clock.h"
#include "os/process.h"

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
	uint32_t state;      /* enum post_state                    */
	uint32_t generation; /* counts when it is freed            */
	uint32_t index;      /* constant                           */
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
static uint32_t nr_chunks; /* under the lock of the pool */

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
	store_release(&chunks[nr_chunks++], chunk); /* O1 */
	return true;
}

static struct pool pool = {
	.object_size = POST_SIZE,
	.chunk_objects = CHUNK_POSTS,
	.adopt = adopt,
};

/* ---- fork() ------------------------------------------------------------------- */

static void before_fork(void)
{
	spin_lock(&pool.lock);
}

static void after_fork(void)
{
	spin_unlock(&pool.lock);
}

/* The timers they are in are lost; and a lock may be, whose owner is not here. */
static void enter_child(void)
{
	for (uint32_t i = 0; i < nr_chunks * CHUNK_POSTS; i++) {
		struct post *post =
			post_in(chunks[i / CHUNK_POSTS], i % CHUNK_POSTS);

		/* A page that is not written is not copied. */
		if (post->state != POST_FREE) {
			post->state = POST_FREE;
			post->generation++;
		}
		/* relaxed: there is one thread. */
		if (load_relaxed(&post->lock.word))
			spin_unlock(&post->lock);
	}
	after_fork();
}

__attribute__((constructor)) static void watch_forks(void)
{
	os_fork_watch(before_fork, after_fork, enter_child);
}

/* ---- ids ------------------------------------------------------------------------ */

/* Locked, or its own. */
static sley_post id_of(const struct post *post)
{
	return (uint64_t)post->generation << 32 | (post->index + 1);
}

static struct post *post_at(sley_post id)
{
	uint32_t index = (uint32_t)id - 1;
	char *chunk = NULL;

	if ((uint32_t)id && index / CHUNK_POSTS < CHUNKS)
		chunk = load_acquire(&chunks[index / CHUNK_POSTS]); /* O1 */
	return chunk ? post_in(chunk, index % CHUNK_POSTS) : NULL;
}

/* Locked, and not in the timers; unlocks it.  What is left of it is freed. */
static void post_free(struct post *post)
{
	struct sley_msg *msg = post->msg;
	bool used_up;

	post->state = POST_FREE;
	used_up = ++post->generation == 0;
	spin_unlock(&post->lock);
	if (msg)
		mail_free(msg);
	if (!used_up)
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
		(void)parcel_send(post->to, msg);
		return false;
	}
	msg = parcel_copy(msg);
	if (!msg)
		return process_find(post->to);
	return parcel_send(post->to, msg) != -ESRCH;
}

static void ring(struct alarm *alarm)
{
	struct post *post = container_of(alarm, struct post, alarm);
	struct worker *keeper = keeper_of(post);
	bool again;

	spin_lock(&post->lock);
	if (post->state == POST_STOPPED || keeper->timers.ended) {
		post_free(post);
		return;
	}
	post->state = POST_SENDING;
	post->by = &sley__self;
	spin_unlock(&post->lock);
	again = send(post);
	spin_lock(&post->lock);
	if (!again || post->state == POST_LAST) {
		post_free(post);
		return;
	}
	post->state = POST_SET;
	alarm_start(&keeper->timers, alarm,
		    next_time(alarm->timer.node.key, post->interval_ns));
	spin_unlock(&post->lock);
	alarm_announce(keeper);
}

/* ---- posting ------------------------------------------------------------------------ */

/* @msg is the post's. */
static int start(struct worker *keeper, sley_pid to, struct sley_msg *msg,
		 uint64_t when_ns, uint64_t interval_ns, sley_post *id)
{
	struct post *post = pool_get(&pool, NULL);

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
	post->state = POST_SET;
	*id = id_of(post);
	alarm_start(&keeper->timers, &post->alarm, when_ns);
	spin_unlock(&post->lock);
	alarm_announce(keeper);
	return 0;
}

/* What is to be sent, and who keeps the time. */
static int prepare(sley_pid to, uint64_t tag, const void *data, size_t size,
		   struct worker **keeper, struct sley_msg **msg)
{
	*keeper = alarm_keeper(strand_current());
	if (!*keeper)
		return forked_error();
	if (!process_find(to))
		return -ESRCH;
	return parcel_create(msg, tag, data, size);
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
	else if (parcel_send(to, msg) == -ESRCH)
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

/* Until it has been sent.  Locked, before and after. */
static void await_sent(struct post *post, sley_post id)
{
	while (id_of(post) == id && post->by != &sley__self &&
	       (post->state == POST_SENDING || post->state == POST_LAST)) {
		spin_unlock(&post->lock);
		spin_hint(&post->lock.word);
		spin_yield();
		spin_lock(&post->lock);
	}
}

int sley_post_cancel(sley_post id)
{
	struct post *post = post_at(id);
	int err = 0;

	if (!post)
		return -ENOENT;
	spin_lock(&post->lock);
	if (id_of(post) != id || post->state == POST_FREE) {
		err = -ENOENT;
	} else if (post->state == POST_SET) {
		if (timer_stop(&post->alarm.timer)) {
			post_free(post);
			return 0;
		}
		post->state = POST_STOPPED;
	} else if (post->state == POST_SENDING && post->interval_ns) {
		post->state = POST_LAST;
		await_sent(post, id);
	} else {
		err = -ENOENT;
		await_sent(post, id);
	}
	spin_unlock(&post->lock);
	return err;
}
