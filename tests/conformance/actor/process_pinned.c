/* SPDX-License-Identifier: MIT */
/*
 * process_pinned.c - processes that stay on one worker.
 */
#include "conformance/actor/process.h"

struct pinned {
	struct life life;
	pthread_t thread;
	sley_pid pid;
	atomic_bool spawned;
};

static enum sley_step stays(struct life *life, struct sley_msg *const *msg,
			    size_t nr, struct sley_out *out)
{
	struct pinned *p = life->arg;

	(void)msg;
	(void)nr;
	(void)out;
	CHECK(pthread_equal(pthread_self(), p->thread));
	sley_yield();
	CHECK(pthread_equal(pthread_self(), p->thread));
	return SLEY_WAIT;
}

static void spawn_pinned(void *arg)
{
	struct pinned *p = arg;

	p->thread = pthread_self();
	p->life = (struct life){ .then = stays, .arg = p };
	p->pid = live_as(&p->life, SLEY_PROCESS_OPTIONS(.pinned = true));
	atomic_store(&p->spawned, true);
}

TEST_WORKERS(a_pinned_process_stays_on_its_worker)
{
	static struct pinned p[20];
	struct sley *rt = start();

	for (int i = 0; i < 20; i++)
		CHECK_EQ(sley_schedule(spawn_pinned, &p[i]), 0);
	for (int i = 0; i < 20; i++)
		CHECK_SOON(p[i].spawned);
	for (int i = 0; i < 2000; i++)
		CHECK_EQ(sley_send(p[i % 20].pid, 1, NULL, 0), 0);
	for (int i = 0; i < 20; i++)
		CHECK_SOON(p[i].life.messages == 100);
	stop(rt);
}

/* While it sleeps its task may go on elsewhere. */
static int init_sleeps(void *self, const char *method, const void *input,
		       size_t size)
{
	CHECK_EQ(sley_sleep(test_random(SLEY_MSEC)), 0);
	return life_init(self, method, input, size);
}

static enum sley_step stays_where_it_began(struct life *life,
					   struct sley_msg *const *msg,
					   size_t nr, struct sley_out *out)
{
	struct pinned *p = life->arg;

	if (!nr)
		p->thread = pthread_self();
	return stays(life, msg, nr, out);
}

static void spawn_pinned_slowly(void *arg)
{
	struct sley_behaviour *behaviour = arg;
	struct pinned *p = (struct pinned *)(behaviour + 1);

	p->life = (struct life){ .then = stays_where_it_began, .arg = p };
	CHECK_EQ(sley_process_spawn(&p->pid, behaviour, &p->life,
				    sizeof(p->life),
				    SLEY_PROCESS_OPTIONS(.pinned = true)),
		 0);
	atomic_store(&p->spawned, true);
}

TEST_WORKERS(a_pinned_process_stays_where_its_spawn_ended)
{
	static struct {
		struct sley_behaviour behaviour;
		struct pinned pinned;
	} all[20];
	struct sley_config config = *test_config();
	struct sley *rt;

	config.migratable = true;
	rt = start_with(&config);
	for (int i = 0; i < 20; i++) {
		all[i].behaviour = living;
		all[i].behaviour.init = init_sleeps;
		CHECK_EQ(sley_schedule(spawn_pinned_slowly, &all[i]), 0);
	}
	for (int i = 0; i < 20; i++)
		CHECK_SOON(all[i].pinned.spawned);
	for (int i = 0; i < 2000; i++) {
		CHECK_EQ(sley_send(all[i % 20].pinned.pid, 1, NULL, 0), 0);
		if (i % 100 == 0)
			CHECK_EQ(sley_sleep(SLEY_MSEC / 10), 0);
	}
	for (int i = 0; i < 20; i++)
		CHECK_SOON(all[i].pinned.life.messages == 100);
	stop(rt);
}
