/* SPDX-License-Identifier: MIT */
/*
 * cancel_stress.c - tasks that are cancelled wherever they are, one by one and
 * all at once, by several at a time.
 *
 * A task that was accepted ends, run or dropped, and what it held is free
 * again: the shielded ways out of a wait must not be cut short, the others must
 * not be missed.  A missed one waits for ever, and the test times out.
 */
#include "stress/crowd.h"

#define NR_TASKS 12

struct victims {
	struct sley_mutex mutex;
	struct sley_cond cond;
	struct sley_event never; /* is never set        */
	struct sley_sem sem;
	struct sley_chan *chan;
	uint64_t inside; /* plain: under the mutex      */
	atomic_int nr_begun, nr_ended;
	struct sley_task task[NR_TASKS];
};

/* Waits for what never comes; each way out is a cancel. */
static int wait_in_vain(struct victims *v)
{
	struct sley_event *both[] = { &v->never, &v->never };
	int value, err = 0;

	switch (test_random(7)) {
	case 0:
		return sley_event_wait(&v->never);
	case 1:
		return sley_event_wait_any_until(both, 1, in_ms(60000));
	case 2:
		return sley_sleep(60 * SLEY_SEC);
	case 3:
		return sley_chan_recv(v->chan, &value);
	case 4:
		return sley_sem_acquire_until(&v->sem, 1, SLEY_FOREVER);
	case 5:
		sley_mutex_lock(&v->mutex);
		while (!err)
			err = sley_cond_wait_until(&v->cond, &v->mutex,
						   SLEY_FOREVER);
		v->inside++; /* it has the mutex in any case */
		sley_mutex_unlock(&v->mutex);
		return err;
	default:
		sley_yield();
		return sley_cancelled() ? -ECANCELED : 0;
	}
}

static void live(void *arg)
{
	struct victims *v = arg;

	atomic_fetch_add(&v->nr_begun, 1);
	for (uint64_t n = test_random(4); n; n--)
		sley_yield();
	while (wait_in_vain(v) != -ECANCELED)
		;
	CHECK(sley_cancelled());
	/* Still good for shielded waits. */
	sley_mutex_lock(&v->mutex);
	v->inside++;
	sley_mutex_unlock(&v->mutex);
	atomic_fetch_add(&v->nr_ended, 1);
}

static void *cancel_in_turn(void *arg)
{
	struct victims *v = arg;

	for (int i = 0; i < NR_TASKS; i++) {
		if (one_in(4))
			test_nap_ms(1);
		sley_cancel(&v->task[i]);
	}
	return NULL;
}

static void cancel_each(struct sley *rt, struct victims *v)
{
	pthread_t other = test_thread(cancel_in_turn, v);

	(void)rt;
	for (int i = NR_TASKS; i-- > 0;)
		sley_cancel(&v->task[i]);
	pthread_join(other, NULL);
}

static void cancel_all(struct sley *rt, struct victims *v)
{
	dawdle();
	sley_cancel_all(rt);
	(void)v;
}

static void play(const struct sley_config *config,
		 void (*cancel)(struct sley *, struct victims *))
{
	struct sley *rt = start_with(config);
	struct sley_group group = SLEY_GROUP_INIT;
	static struct victims v;

	memset((void *)&v, 0, sizeof(v));
	CHECK_EQ(sley_chan_create(&v.chan, sizeof(int), 1), 0);
	for (int i = 0; i < NR_TASKS; i++)
		sley_spawn(&group, &v.task[i], live, &v);
	if (one_in(2))
		sley_yield();
	cancel(rt, &v);
	sley_join(&group);
	CHECK_EQ(atomic_load(&v.nr_begun), atomic_load(&v.nr_ended));
	for (int i = 0; i < NR_TASKS; i++)
		CHECK_NE(sley_task_status(&v.task[i]), -EINPROGRESS);
	CHECK(sley_mutex_try_lock(&v.mutex));
	CHECK_GE(v.inside, (uint64_t)atomic_load(&v.nr_ended));
	CHECK(!v.never.q.first && !v.sem.q.first && !v.cond.q.first);
	sley_chan_destroy(v.chan);
	stop(rt);
	test_count(NR_TASKS);
}

static void play_all(void (*cancel)(struct sley *, struct victims *))
{
	struct sley_config config[] = {
		stress_config(),
		stress_config_no_membarrier(),
		stress_config_migratable(),
		config_of(SLEY_SINGLE),
	};
	uint64_t end = stress_end();

	do
		for (size_t i = 0; i < ARRAY_SIZE(config); i++)
			play(&config[i], cancel);
	while (sley_now() < end);
}

TEST(whoever_is_cancelled_ends)
{
	play_all(cancel_each);
}

TEST(all_end_when_all_are_cancelled)
{
	play_all(cancel_all);
}
