/* SPDX-License-Identifier: MIT */
/*
 * all_models.c - see all_models.h.
 *
 * Tasks are static, so that a child of fork() uses the addresses, and with them the
 * locks, that its parent used.
 */
#include "fault/all_models.h"

#include "harness/test.h"

#include <errno.h>
#include <sley/sley.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define NR_TASKS 64

static _Alignas(4096) struct sley_task tasks[ALL_MODELS_MAX][NR_TASKS];

struct program {
	int id;
	struct sley *rt;
	atomic_int ran;
};

/* ---- tasks, scopes, fork-join ------------------------------------------------ */

static void count(void *arg)
{
	atomic_fetch_add((atomic_int *)arg, 1);
}

static void count_in_scopes(void *arg)
{
	struct sley_scope outer, inner;

	sley_scope_open(&outer);
	sley_scope_open(&inner);
	count(arg);
	CHECK_EQ(sley_scope_close(&inner), 0);
	CHECK_EQ(sley_scope_close(&outer), 0);
}

static void use_tasks(struct program *p)
{
	struct sley_group group = SLEY_GROUP_INIT;

	atomic_store(&p->ran, 0);
	for (int i = 0; i < NR_TASKS; i++)
		sley_spawn(&group, &tasks[p->id][i], count_in_scopes, &p->ran);
	CHECK_EQ(sley_set_priority(&tasks[p->id][NR_TASKS - 1], 3), 0);
	sley_join(&group);
	CHECK_EQ(atomic_load(&p->ran), NR_TASKS);
}

static int sleep_long(void *arg)
{
	count(arg);
	CHECK_EQ(sley_sleep(3600 * SLEY_SEC), -ECANCELED);
	return 0;
}

static void use_cancel(struct program *p)
{
	struct sley_scope scope;

	atomic_store(&p->ran, 0);
	sley_scope_open_until(&scope, sley_now() + 3600 * SLEY_SEC);
	for (int i = 0; i < 4; i++)
		sley_scope_spawn(&scope, &tasks[p->id][i], sleep_long, &p->ran);
	while (atomic_load(&p->ran) < 4)
		sley_yield();
	sley_scope_cancel(&scope);
	CHECK_EQ(sley_scope_close(&scope), -ECANCELED);
}

static long fib(long n);
SLEY_FORKABLE(long, fib, long, n)

static long fib(long n)
{
	if (n < 2)
		return n;
	SLEY_FORK(fib, left, n - 1);
	long right = fib(n - 2);

	if (n == 5)
		sley_yield();
	return SLEY_JOIN(fib, left) + right;
}

/* ---- what tasks meet at -------------------------------------------------------- */

struct meeting {
	struct sley_chan *chan;
	struct sley_mutex mutex;
	struct sley_cond cond;
	struct sley_event event;
	struct sley_sem sem;
	struct sley_rwlock rwlock;
	struct sley_waitgroup wg;
	struct sley_future future;
	int number;
};

static void meet(void *arg)
{
	struct meeting *m = arg;
	int value = 1;

	CHECK_EQ(sley_chan_send(m->chan, &value), 0);
	CHECK_EQ(sley_event_wait(&m->event), 0);
	CHECK_EQ(sley_sem_acquire(&m->sem, 1), 0);
	sley_rwlock_read_lock(&m->rwlock);
	sley_yield();
	sley_rwlock_read_unlock(&m->rwlock);
	sley_sem_release(&m->sem, 1);
	sley_rwlock_write_lock(&m->rwlock);
	sley_yield();
	sley_rwlock_write_unlock(&m->rwlock);
	sley_mutex_lock(&m->mutex);
	m->number++;
	sley_cond_notify_all(&m->cond);
	sley_mutex_unlock(&m->mutex);
	CHECK_EQ(sley_future_wait(&m->future), 0);
	sley_waitgroup_done(&m->wg);
}

#define NR_MEETING 4

static void use_sync(struct program *p)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct meeting m = { .mutex = SLEY_MUTEX_INIT,
			     .cond = SLEY_COND_INIT,
			     .event = SLEY_EVENT_INIT,
			     .sem = SLEY_SEM_INIT(1),
			     .rwlock = SLEY_RWLOCK_INIT,
			     .wg = SLEY_WAITGROUP_INIT,
			     .future = SLEY_FUTURE_INIT };
	int value;

	CHECK_EQ(sley_chan_create(&m.chan, sizeof(int), 1), 0);
	sley_waitgroup_add(&m.wg, NR_MEETING);
	for (int i = 0; i < NR_MEETING; i++)
		sley_spawn(&group, &tasks[p->id][i], meet, &m);
	for (int i = 0; i < NR_MEETING; i++)
		CHECK_EQ(sley_chan_recv(m.chan, &value), 0);
	sley_event_set(&m.event);
	sley_mutex_lock(&m.mutex);
	while (m.number < NR_MEETING)
		(void)sley_cond_wait(&m.cond, &m.mutex);
	sley_mutex_unlock(&m.mutex);
	sley_future_set(&m.future, &m);
	CHECK_EQ(sley_waitgroup_wait(&m.wg), 0);
	sley_join(&group);
	sley_chan_destroy(m.chan);
}

static void answer(void *key)
{
	CHECK_EQ(sley_suspend(), 0);
	CHECK_GE(sley_key_wake(*(uint64_t *)key), 0);
}

static void use_wakers(struct program *p)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_waker waker;
	uint64_t key;

	CHECK_EQ(sley_key_create(&key), 0);
	CHECK_EQ(sley_spawn_with(&group, &tasks[p->id][0], answer, &key,
				 SLEY_OPTIONS(.waker = &waker)),
		 0);
	CHECK_EQ(sley_set_priority_id(waker.id, 2), 0);
	CHECK_GE(sley_wake(&waker), 0);
	CHECK_EQ(sley_key_wait(key), 0);
	sley_join(&group);
	sley_key_destroy(key);
	CHECK_EQ(sley_wake(&waker), -ESRCH);
}

static void use_blocking(struct program *p)
{
	atomic_store(&p->ran, 0);
	CHECK_EQ(sley_blocking_call(count, &p->ran), 0);
	CHECK_EQ(atomic_load(&p->ran), 1);
	CHECK_EQ(sley_blocking_begin(), 0);
	sley_blocking_end();
}

/* ---- actors ----------------------------------------------------------------------- */

enum { ASK = 1, POST, NEWS };

static _Atomic(sley_post) posts[ALL_MODELS_MAX]; /* the last of each */

static int reply_to_all(void *arg)
{
	struct sley_msg *msg;

	while (sley_receive(&msg) == 0) {
		count(arg);
		if (msg->tag == ASK)
			CHECK_EQ(sley_reply(msg, ASK, NULL, 0), 0);
	}
	return 0;
}

static void ask(sley_pid pid)
{
	struct sley_msg *reply;

	CHECK_EQ(sley_call(pid, ASK, NULL, 0, &reply), 0);
	sley_msg_free(reply);
}

/* The actor has got so many messages beside. */
static void ask_until(struct program *p, sley_pid pid, int nr)
{
	while (atomic_load(&p->ran) < nr) {
		CHECK_EQ(sley_sleep(SLEY_MSEC / 4), 0);
		CHECK(sley_process_alive(pid));
	}
}

static void use_actors(struct program *p)
{
	sley_pid pid, bounded;
	sley_post post;
	char name[16];

	atomic_store(&p->ran, 0);
	snprintf(name, sizeof(name), "name-%d", p->id);
	CHECK_EQ(sley_actor_spawn(&pid, reply_to_all, &p->ran, NULL), 0);
	CHECK_EQ(sley_actor_spawn(&bounded, reply_to_all, &p->ran,
				  SLEY_PROCESS_OPTIONS(.mailbox = 2)),
		 0);
	CHECK_EQ(sley_name_register(name, pid, NULL), 0);
	CHECK_EQ(sley_topic_join(name, pid), 0);
	CHECK_EQ(sley_topic_join_matching("name-*", bounded), 0);
	CHECK(sley_name_find(name) == pid);
	ask(pid);
	ask(bounded);
	CHECK_GE(sley_topic_publish(name, NEWS, NULL, 0), 0);
	CHECK_EQ(sley_post_at(pid, POST, NULL, 0, sley_now() + SLEY_MSEC / 2,
			      &post),
		 0);
	ask_until(p, pid, 5);
	CHECK_EQ(sley_post_every(pid, POST, NULL, 0, SLEY_SEC, &post), 0);
	atomic_store(&posts[p->id], post);
	CHECK_EQ(sley_post_cancel(post), 0);
	CHECK_EQ(sley_name_unregister(name), 0);
	CHECK_EQ(sley_process_kill(pid), 0);
	CHECK_EQ(sley_process_kill(bounded), 0);
}

static void use_supervisor(struct program *p)
{
	struct sley_child child = { .fn = reply_to_all,
				    .arg = &p->ran,
				    .restart = SLEY_PERMANENT };
	sley_pid pid, added;

	CHECK_EQ(sley_supervise(&pid, NULL, &child, 1), 0);
	CHECK_EQ(sley_supervisor_add(pid, &child, &added), 0);
	ask(added);
	CHECK_EQ(sley_process_cancel(pid, -ECANCELED), 0);
	while (sley_process_alive(pid))
		CHECK_EQ(sley_sleep(SLEY_MSEC / 4), 0);
}

static int handle(const struct sley_command *command, void *arg)
{
	(void)arg;
	return sley_command_complete(command->pid, command->tag, NULL, 0);
}

static enum sley_step command_once(void *self, struct sley_msg *const *msg,
				   size_t nr, struct sley_out *out)
{
	uint32_t *command = self;

	for (size_t i = 0; i < nr; i++) {
		if (msg[i]->kind == SLEY_DONE)
			return sley_out_done(out, 0);
		if (msg[i]->tag == ASK)
			memcpy(command, msg[i]->data, sizeof(*command));
	}
	if (!*command)
		return SLEY_WAIT;
	return sley_out_yield(out, *command, 1, NULL);
}

static const struct sley_behaviour commander = { .size = sizeof(uint32_t),
						 .step = command_once };

static void use_commands(struct program *p)
{
	uint32_t command = 1000 + (uint32_t)p->id;
	sley_pid pid;

	/* A child of fork() finds what its parent had registered. */
	if (sley_command_unhandle(command))
		sley_yield();
	CHECK_EQ(sley_command_handle(command, handle, NULL, NULL), 0);
	CHECK_EQ(sley_process_spawn(&pid, &commander, NULL, 0, NULL), 0);
	CHECK_EQ(sley_send(pid, ASK, &command, sizeof(command)), 0);
	while (sley_process_alive(pid))
		CHECK_EQ(sley_sleep(SLEY_MSEC / 4), 0);
	CHECK_EQ(sley_command_unhandle(command), 0);
}

/* ---- graphs ------------------------------------------------------------------------ */

static int count_node(void *arg)
{
	count(arg);
	return 0;
}

static void use_graph(struct program *p)
{
	struct sley_graph *graph;
	sley_node node[4];

	atomic_store(&p->ran, 0);
	CHECK_EQ(sley_graph_create(&graph, NULL), 0);
	for (uint32_t i = 0; i < 4; i++)
		CHECK_EQ(sley_graph_submit(graph, &node[i],
					   SLEY_NODE_SPEC(.fn = count_node,
							  .arg = &p->ran,
							  .after = node,
							  .nr_after = i)),
			 0);
	CHECK_EQ(sley_graph_wait(graph), 0);
	CHECK_EQ(atomic_load(&p->ran), 4);
	sley_graph_destroy(graph);
}

static void use_plan(struct program *p)
{
	struct sley_plan *plan;
	sley_node node[2];

	atomic_store(&p->ran, 0);
	CHECK_EQ(sley_plan_create(&plan, NULL), 0);
	for (uint32_t i = 0; i < 2; i++)
		CHECK_EQ(sley_plan_add(plan, &node[i],
				       SLEY_NODE_SPEC(.fn = count_node,
						      .arg = &p->ran,
						      .after = node,
						      .nr_after = i)),
			 0);
	CHECK_EQ(sley_plan_seal(plan), 0);
	CHECK_EQ(sley_plan_run(plan, NULL), 0);
	CHECK_EQ(sley_plan_run(plan, NULL), 0);
	CHECK_EQ(atomic_load(&p->ran), 4);
	sley_plan_destroy(plan);
}

/* ---- what is left in a child ----------------------------------------------------------- */

void check_nothing_is_left(void)
{
	for (int id = 0; id < ALL_MODELS_MAX; id++) {
		char name[16];

		snprintf(name, sizeof(name), "name-%d", id);
		CHECK(sley_name_find(name) == SLEY_NO_PID);
		CHECK_EQ(sley_post_cancel(atomic_load(&posts[id])), -ENOENT);
	}
	CHECK_EQ(sley_process_count(), 0);
	CHECK_EQ(sley_topic_publish("name-0", NEWS, NULL, 0), 0);
}

/* ---- all of it ---------------------------------------------------------------------- */

/* ---- descriptors --------------------------------------------------------------- */

struct stream {
	int from, to;
};

static void read_byte(void *arg)
{
	const struct stream *stream = arg;
	char byte;

	CHECK_EQ(sley_io_read(stream->from, &byte, 1), 1);
}

static void read_in_vain(void *arg)
{
	const struct stream *stream = arg;
	char byte;

	CHECK_EQ(sley_io_read_until(stream->from, &byte, 1,
				    sley_now() + SLEY_MSEC),
		 -ETIMEDOUT);
}

static void use_io(struct program *p)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct stream stream;
	int fd[2];

	CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd), 0);
	stream = (struct stream){ fd[0], fd[1] };
	sley_spawn(&group, &tasks[p->id][0], read_byte, &stream);
	sley_yield();
	CHECK_EQ(sley_io_write(stream.to, "a", 1), 1);
	sley_join(&group);
	/* A thread of the pool waits by itself. */
	CHECK_EQ(sley_blocking_call(read_in_vain, &stream), 0);
	CHECK_EQ(sley_io_close(stream.from), 0);
	CHECK_EQ(sley_io_close(stream.to), 0);
}

static void root(void *arg)
{
	struct program *p = arg;

	use_tasks(p);
	use_cancel(p);
	CHECK_EQ(fib(10), 55);
	use_sync(p);
	use_wakers(p);
	use_blocking(p);
	use_actors(p);
	use_supervisor(p);
	use_commands(p);
	use_graph(p);
	use_plan(p);
	use_io(p);
}

void use_all_models(int id, int workers)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct program p = { .id = id };
	struct sley_task task;

	CHECK_EQ(sley_create(&p.rt, SLEY_CONFIG(.workers = workers)), 0);
	CHECK_EQ(sley_spawn_on(p.rt, &group, &task, root, &p, NULL), 0);
	CHECK_EQ(sley_bind(p.rt), 0);
	sley_join(&group);
	sley_unbind(p.rt);
	CHECK_EQ(sley_destroy(p.rt), 0);
}
