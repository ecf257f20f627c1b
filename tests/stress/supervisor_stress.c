/* SPDX-License-Identifier: MIT */
/*
 * supervisor_stress.c - children that are killed, cancelled, added and removed at
 * random by tasks and threads, while others call them.
 *
 * Whatever happens, a call is answered, or says that the child has ended; all
 * children that began have ended when their supervisor has; and the supervisor
 * itself goes on, with all the children it should have.
 */
#include "stress/crowd.h"

#define NR_WORKERS 6
#define NR_PLACES 64 /* hints where workers are */
#define NR_PAIR 2    /* workers of the inner supervisor */

enum { ASK = 1, FAIL, LEAVE };

static struct {
	sley_pid supervisor;
	_Atomic sley_pid place[NR_PLACES];
	atomic_int nr_alive;
	atomic_long nr_answered, nr_unanswered;
} scene;

/* ---- a worker --------------------------------------------------------------------- */

static int serve(void)
{
	struct sley_msg *msg;

	while (sley_receive(&msg) == 0) {
		uint64_t answer;

		if (msg->tag == FAIL)
			return -EIO;
		if (msg->tag == LEAVE) {
			atomic_fetch_sub(&scene.nr_alive, 1);
			sley_actor_exit(0);
		}
		dawdle();
		answer = *(const uint64_t *)msg->data + 1;
		(void)sley_reply(msg, ASK, &answer, sizeof(answer));
	}
	return -ECANCELED;
}

static int work(void *arg)
{
	atomic_int *nr = arg;
	int reason;

	atomic_fetch_add(nr, 1);
	scene.place[test_random(NR_PLACES)] = sley_self();
	reason = serve();
	atomic_fetch_sub(nr, 1);
	return reason;
}

/* The same as a step process, which traps: its close comes in any case. */
static int step_init(void *self, const char *method, const void *input,
		     size_t size)
{
	(void)self;
	(void)method;
	(void)input;
	(void)size;
	if (one_in(16))
		return -EAGAIN; /* not every start succeeds */
	atomic_fetch_add(&scene.nr_alive, 1);
	return 0;
}

static enum sley_step step(void *self, struct sley_msg *const *msg, size_t nr,
			   struct sley_out *out)
{
	bool *begun = self;

	if (!*begun)
		scene.place[test_random(NR_PLACES)] = sley_self();
	*begun = true;
	for (size_t i = 0; i < nr; i++) {
		uint64_t answer;

		if (msg[i]->kind == SLEY_CANCEL ||
		    (msg[i]->kind == SLEY_EXIT && one_in(2)))
			return sley_out_done(out, -ECANCELED);
		if (msg[i]->kind != SLEY_MESSAGE)
			continue;
		if (msg[i]->tag == FAIL)
			return sley_out_done(out, -EIO);
		if (msg[i]->tag == LEAVE)
			return sley_out_done(out, 0);
		answer = *(const uint64_t *)msg[i]->data + 1;
		(void)sley_reply(msg[i], ASK, &answer, sizeof(answer));
	}
	return SLEY_WAIT;
}

static void step_close(void *self, int reason)
{
	(void)self;
	(void)reason;
	atomic_fetch_sub(&scene.nr_alive, 1);
}

static const struct sley_behaviour behaviour = {
	.name = "step",
	.size = sizeof(bool),
	.init = step_init,
	.step = step,
	.close = step_close,
};

static const struct sley_process_options trapping = {
	.size = sizeof(struct sley_process_options),
	.traps = true,
};

/* ---- what everybody does ------------------------------------------------------------ */

static sley_pid somebody(void)
{
	for (int i = 0; i < 100; i++) {
		sley_pid pid = scene.place[test_random(NR_PLACES)];

		if (pid)
			return pid;
	}
	return SLEY_NO_PID;
}

/* What a call says of a process that has ended. */
static bool is_an_end(int err)
{
	return err == -ESRCH || err == -EIO || err == SLEY_EKILLED ||
	       err == -ECANCELED || err == SLEY_ERESTARTS;
}

static int finish_call(int err)
{
	if (!err) {
		atomic_fetch_add(&scene.nr_answered, 1);
		return 0;
	}
	atomic_fetch_add(&scene.nr_unanswered, 1);
	CHECK(is_an_end(err));
	return err == -ECANCELED && sley_cancelled() ? -ECANCELED : 0;
}

static int ask(void)
{
	uint64_t question = test_random(1000);
	struct sley_msg *reply;
	int err = sley_call_until(somebody(), ASK, &question, sizeof(question),
				  &reply, in_ms(60000));

	if (!err) {
		CHECK_EQ(*(const uint64_t *)reply->data, question + 1);
		sley_msg_free(reply);
	}
	return finish_call(err);
}

static int come_and_go(void)
{
	const struct sley_child extra = {
		.fn = work,
		.arg = &scene.nr_alive,
		.restart = (enum sley_restart)test_random(3),
		.backoff_ns = one_in(2) ? 0 : test_random(SLEY_MSEC),
	};
	sley_pid pid;
	int err = sley_supervisor_add_until(scene.supervisor, &extra, &pid,
					    one_in(4) ? soon() : in_ms(60000));

	if (err == -ETIMEDOUT)
		return 0;
	if (err)
		return finish_call(err);
	dawdle();
	err = sley_supervisor_remove_until(scene.supervisor, pid,
					   one_in(4) ? soon() : in_ms(60000));
	if (err == -ETIMEDOUT || err == -ENOENT)
		return 0;
	return finish_call(err);
}

static int act(void *unused, unsigned int index)
{
	(void)unused;
	(void)index;
	switch (test_random(16)) {
	case 0:
		(void)sley_process_kill(somebody());
		return 0;
	case 1:
		(void)sley_process_cancel(somebody(), -ECANCELED);
		return 0;
	case 2:
		(void)sley_send(somebody(), FAIL, NULL, 0);
		return 0;
	case 3:
		(void)sley_send(somebody(), LEAVE, NULL, 0);
		return 0;
	case 4:
	case 5:
		return come_and_go();
	default:
		return ask();
	}
}

/* ---- the play ----------------------------------------------------------------------- */

static const struct sley_child pair[] = {
	{ "inner", work, .arg = &scene.nr_alive, .restart = SLEY_PERMANENT,
	  .count = NR_PAIR },
};

static const struct sley_child children[] = {
	{ .behaviour = &behaviour,
	  .restart = SLEY_PERMANENT,
	  .optional = true,
	  .options = &trapping },
	{ "outer", work, .arg = &scene.nr_alive, .restart = SLEY_PERMANENT,
	  .count = NR_WORKERS - 2 * NR_PAIR },
	/* Gives up now and then. */
	{ .children = pair,
	  .nr_children = 1,
	  .supervisor = SLEY_SUPERVISOR_OPTIONS(.strategy = SLEY_ONE_FOR_ALL,
						.intensity = 3,
						.within_ns = SLEY_MSEC / 4) },
	{ "late", work, .arg = &scene.nr_alive, .restart = SLEY_TRANSIENT,
	  .count = NR_PAIR, .backoff_ns = 100 * SLEY_USEC,
	  .backoff_max_ns = SLEY_MSEC },
};

static void be_quiet(void *self, const char *line)
{
	(void)self;
	CHECK(strstr(line, "gives up") || strstr(line, "cannot start") ||
	      strstr(line, "restarts"));
}

static void wait_for_end(sley_pid pid)
{
	uint64_t end_ns = in_ms(30000);

	while (sley_process_alive(pid)) {
		CHECK_LT(sley_now(), end_ns);
		CHECK_EQ(sley_sleep(SLEY_MSEC / 10), 0);
	}
}

static void play(void)
{
	struct crowd crowd = {
		.act = act,
		.nr_tasks = 8,
		.nr_threads = 3,
		.rounds = 50,
		.cancels = one_in(2),
	};
	const struct sley_supervisor_options options = {
		.size = sizeof(options),
		.strategy = (uint32_t)test_random(3),
		.intensity = 1000000,
	};

	for (int i = 0; i < NR_PLACES; i++)
		scene.place[i] = SLEY_NO_PID;
	CHECK_EQ(sley_supervise(&scene.supervisor, &options, children,
				ARRAY_SIZE(children)),
		 0);
	crowd_run(&crowd);
	CHECK(sley_process_alive(scene.supervisor));
	if (one_in(4))
		CHECK_EQ(sley_process_kill(scene.supervisor), 0);
	else
		CHECK_EQ(sley_process_cancel(scene.supervisor, -ECANCELED), 0);
	wait_for_end(scene.supervisor);
}

static void storm(struct sley_config config)
{
	struct sley *rt;
	uint64_t end;

	config.report = be_quiet;
	rt = start_with(&config);
	end = stress_end();
	do
		play();
	while (sley_now() < end);
	stop(rt);
	/* All that began have ended; calls were answered, and some were not. */
	CHECK_EQ(scene.nr_alive, 0);
	CHECK_EQ(sley_process_count(), 0);
	CHECK_GT(scene.nr_answered, 0);
}

TEST(a_storm_of_restarts)
{
	storm(stress_config());
}

TEST(a_storm_of_restarts_without_membarrier)
{
	storm(stress_config_no_membarrier());
}

TEST(a_storm_of_restarts_where_fibers_move)
{
	storm(stress_config_migratable());
}

TEST(a_storm_of_restarts_on_one_worker)
{
	storm(config_of(1));
}
