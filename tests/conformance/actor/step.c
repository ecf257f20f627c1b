/* SPDX-License-Identifier: MIT */
/*
 * step.c - step processes: how they begin, what their steps get and say: W1, W2,
 * W3, W5, W7, W8, W11.
 */
#include <stdio.h>

#include "conformance/actor/process.h"

/* ---- W1: Init, Step, Close ------------------------------------------------------ */

static pthread_t init_thread;
static sley_pid *init_pid;

static int notes_where(void *self, const char *method, const void *input,
		       size_t size)
{
	init_thread = pthread_self();
	CHECK_EQ(*init_pid, SLEY_NO_PID);
	CHECK_EQ(sley_self(), SLEY_NO_PID);
	return life_init(self, method, input, size);
}

TEST_WORKERS(w01_init_runs_on_the_thread_that_spawns_before_there_is_a_pid)
{
	struct sley_behaviour behaviour = living;
	struct sley *rt = start();
	struct life life = { 0 };
	sley_pid pid = SLEY_NO_PID;

	behaviour.init = notes_where;
	init_pid = &pid;
	CHECK_EQ(sley_process_spawn(&pid, &behaviour, &life, sizeof(life),
				    NULL),
		 0);
	CHECK(pthread_equal(init_thread, pthread_self()));
	CHECK_EQ(life.inits, 1);
	CHECK_NE(pid, SLEY_NO_PID);
	CHECK_SOON(life.steps == 1);
	CHECK_EQ(sley_process_kill(pid), 0);
	check_end(&life, SLEY_EKILLED);
	stop(rt);
}

static enum sley_step ends_well(struct life *life, struct sley_msg *const *msg,
				size_t nr, struct sley_out *out)
{
	(void)life;
	(void)msg;
	return nr ? sley_out_done(out, 0) : SLEY_WAIT;
}

/* check_end() counts how often it was closed, and looks for what. */
TEST_WORKERS(w01_close_runs_once_however_the_process_ends)
{
	struct life well = { .then = ends_well }, killed = { 0 };
	struct sley *rt = start();

	CHECK_EQ(sley_send(live(&well), 1, NULL, 0), 0);
	CHECK_EQ(sley_process_kill(live(&killed)), 0);
	check_end(&well, 0);
	check_end(&killed, SLEY_EKILLED);
	stop(rt);
	CHECK_EQ(well.closes, 1);
	CHECK_EQ(killed.closes, 1);
}

static int fails(void *self, const char *method, const void *input, size_t size)
{
	(void)life_init(self, method, input, size);
	return -EILSEQ;
}

TEST_WORKERS(w01_an_init_that_fails_spawns_nothing_and_is_not_closed)
{
	struct sley_behaviour behaviour = living;
	struct sley *rt = start();
	struct life life = { 0 };
	sley_pid pid = SLEY_NO_PID;

	behaviour.init = fails;
	for (int i = 0; i < 100; i++)
		CHECK_EQ(sley_process_spawn(&pid, &behaviour, &life,
					    sizeof(life), NULL),
			 -EILSEQ);
	CHECK_EQ(pid, SLEY_NO_PID);
	stop(rt);
	CHECK_EQ(life.inits, 100);
	CHECK_EQ(life.steps, 0);
	CHECK_EQ(life.closes, 0);
}

static int says_seven(void *self, const char *method, const void *input,
		      size_t size)
{
	(void)life_init(self, method, input, size);
	return 7;
}

TEST_WORKERS(w01_only_below_zero_is_a_failure_of_init)
{
	struct sley_behaviour behaviour = living;
	struct sley *rt = start();
	struct life life = { 0 };
	sley_pid pid = SLEY_NO_PID;

	behaviour.init = says_seven;
	CHECK_EQ(sley_process_spawn(&pid, &behaviour, &life, sizeof(life),
				    NULL),
		 0);
	CHECK_SOON(life.steps == 1);
	stop(rt);
	CHECK_EQ(life.closes, 1);
}

static enum sley_step without_self(void *self, struct sley_msg *const *msg,
				   size_t nr, struct sley_out *out)
{
	(void)msg;
	CHECK_EQ(nr, 0);
	CHECK(self == NULL);
	return sley_out_done(out, 0);
}

TEST_WORKERS(w01_a_process_needs_neither_memory_nor_init_nor_close)
{
	static const struct sley_behaviour bare = { .step = without_self };
	struct sley *rt = start();

	for (int i = 0; i < 1000; i++)
		CHECK_EQ(sley_process_spawn(NULL, &bare, NULL, 0, NULL), 0);
	stop(rt);
}

struct flood {
	sley_pid pid;
	int nr;
};

static void *flood(void *arg)
{
	struct flood *f = arg;

	for (int i = 0; i < f->nr; i++)
		CHECK_EQ(sley_send(f->pid, 1, &i, sizeof(i)), 0);
	return NULL;
}

static void flood_task(void *arg)
{
	(void)flood(arg);
}

/* life_step() looks for it. */
TEST_WORKERS(w01_a_process_is_never_in_two_steps_at_once)
{
	struct sley *rt = start();
	struct life life = { 0 };
	struct flood f = { live(&life), test_scale(2000) };

	run_beside(flood_task, flood, &f);
	CHECK_SOON(life.messages == 12 * f.nr);
	CHECK_EQ(sley_process_kill(f.pid), 0);
	check_end(&life, SLEY_EKILLED);
	stop(rt);
}

/* ---- W2: methods ------------------------------------------------------------------- */

static int has_two_methods(void *self, const char *method, const void *input,
			   size_t size)
{
	(void)life_init(self, method, input, size);
	if (strcmp(method, "main") == 0 || strcmp(method, "other") == 0)
		return 0;
	return -ENOENT;
}

TEST_WORKERS(w02_a_method_is_main_unless_named_and_may_be_unknown)
{
	static const struct {
		const char *method;
		int err;
	} row[] = {
		{ NULL, 0 }, { "main", 0 }, { "other", 0 }, { "none", -ENOENT }
	};
	struct sley_behaviour behaviour = living;
	struct sley *rt = start();

	behaviour.init = has_two_methods;
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		struct life life = { 0 };
		sley_pid pid;

		CHECK_EQ(sley_process_spawn(
				 &pid, &behaviour, &life, sizeof(life),
				 SLEY_PROCESS_OPTIONS(.method = row[i].method)),
			 row[i].err);
		if (row[i].err)
			continue;
		CHECK_EQ(sley_process_kill(pid), 0);
		check_end(&life, SLEY_EKILLED);
	}
	stop(rt);
}

/* ---- W3: what a step says ------------------------------------------------------------ */

static enum sley_step goes_on_nine_times(struct life *life,
					 struct sley_msg *const *msg, size_t nr,
					 struct sley_out *out)
{
	(void)msg;
	(void)out;
	CHECK_EQ(nr, 0);
	return life->steps < 10 ? SLEY_CONTINUE : SLEY_WAIT;
}

TEST_WORKERS(w03_a_step_that_says_continue_is_called_again_without_messages)
{
	struct sley *rt = start();
	struct life life = { .then = goes_on_nine_times };

	(void)live(&life);
	CHECK_SOON(life.steps == 10);
	CHECK_EQ(sley_sleep(5 * SLEY_MSEC), 0);
	CHECK_EQ(life.steps, 10);
	stop(rt);
	check_end(&life, -ECANCELED);
}

static enum sley_step ends_as_told(struct life *life,
				   struct sley_msg *const *msg, size_t nr,
				   struct sley_out *out)
{
	(void)life;
	for (size_t i = 0; i < nr; i++) {
		if (msg[i]->tag == 2)
			return sley_out_done(out, *(const int *)msg[i]->data);
		if (msg[i]->tag == 3)
			return SLEY_END;
	}
	return SLEY_WAIT;
}

TEST_WORKERS(w03_a_process_ends_for_the_reason_its_step_gives)
{
	static const int reason[] = { 0, -EIO, SLEY_EKILLED };
	struct sley *rt = start();

	for (size_t i = 0; i < ARRAY_SIZE(reason); i++) {
		struct life life = { .then = ends_as_told };
		sley_pid pid = live(&life);

		CHECK_EQ(sley_send(pid, 1, NULL, 0), 0);
		CHECK_EQ(sley_send(pid, 2, &reason[i], sizeof(int)), 0);
		check_end(&life, reason[i]);
		CHECK_SOON(sley_send(pid, 1, NULL, 0) == -ESRCH);
	}
	stop(rt);
}

TEST_WORKERS(w03_the_bare_word_ends_it_for_0)
{
	struct sley *rt = start();
	struct life life = { .then = ends_as_told };

	CHECK_EQ(sley_send(live(&life), 3, NULL, 0), 0);
	check_end(&life, 0);
	stop(rt);
}

/* ---- W5: what a step gets --------------------------------------------------------------- */

struct order {
	uint64_t next[16]; /* of each sender: a number in the tag's low half */
};

static enum sley_step checks_order(struct life *life,
				   struct sley_msg *const *msg, size_t nr,
				   struct sley_out *out)
{
	struct order *order = life->arg;

	(void)out;
	for (size_t i = 0; i < nr; i++) {
		uint32_t sender = (uint32_t)(msg[i]->tag >> 32);

		CHECK_EQ(msg[i]->kind, SLEY_MESSAGE);
		CHECK_EQ((uint32_t)msg[i]->tag, order->next[sender]++);
	}
	return SLEY_WAIT;
}

static uint32_t strays_of(sley_pid pid)
{
	struct sley_process_info info;

	CHECK_EQ(sley_process_inspect(pid, &info), 0);
	return info.stray;
}

/* The completion of no command wakes the process, but is nothing for a step. */
static void wake_for_nothing(sley_pid pid)
{
	uint32_t before = strays_of(pid);

	CHECK_EQ(sley_command_complete(pid, 1, NULL, 0), 0);
	CHECK_SOON(strays_of(pid) == before + 1);
}

TEST_WORKERS(w05_messages_come_in_order_and_no_step_comes_for_nothing)
{
	struct order order = { { 0 } };
	struct sley *rt = start();
	struct life life = { .then = checks_order, .arg = &order };
	sley_pid pid = live(&life);
	int n = test_scale(8000);

	for (int i = 0; i < n; i++) {
		CHECK_EQ(sley_send(pid, (uint64_t)i, NULL, 0), 0);
		if (i % 100 == 0)
			CHECK_SOON(life.messages == i + 1);
		if (i % 1000 == 0)
			wake_for_nothing(pid);
	}
	CHECK_SOON(life.messages == n);
	stop(rt);
	CHECK_EQ(life.empty, 1);
	check_end(&life, -ECANCELED);
}

/* ---- W7: what comes while it runs --------------------------------------------------------- */

static enum sley_step held_at_gate(struct life *life,
				   struct sley_msg *const *msg, size_t nr,
				   struct sley_out *out)
{
	(void)msg;
	(void)out;
	if (nr == 0)
		gate_hold(life->arg);
	return SLEY_WAIT;
}

TEST_WORKERS(w07_what_comes_while_a_step_runs_is_for_the_next_one)
{
	struct gate gate = { 0 };
	struct life life = { .then = held_at_gate, .arg = &gate };
	struct sley *rt = start();
	sley_pid pid;

	if (is_single())
		test_skip("the step holds this thread");
	pid = live(&life);
	CHECK_EVENTUALLY(atomic_load(&gate.held) == 1);
	CHECK_EQ(sley_send(pid, 1, NULL, 0), 0);
	CHECK_EQ(sley_send(pid, 2, NULL, 0), 0);
	CHECK_EQ(life.steps, 1);
	gate_open(&gate);
	CHECK_SOON(life.messages == 2);
	stop(rt);
	CHECK_EQ(life.empty, 1);
}

static enum sley_step waits_in_it(struct life *life,
				  struct sley_msg *const *msg, size_t nr,
				  struct sley_out *out)
{
	(void)msg;
	(void)nr;
	(void)out;
	CHECK_EQ(sley_event_wait(life->arg), 0);
	CHECK_EQ(sley_sleep(SLEY_MSEC / 10), 0);
	return SLEY_WAIT;
}

TEST_WORKERS(w07_a_step_may_wait_and_its_messages_wait_meanwhile)
{
	struct sley_event event = SLEY_EVENT_INIT;
	struct life life = { .then = waits_in_it, .arg = &event };
	struct sley *rt = start();
	sley_pid pid = live(&life);

	CHECK_SOON(life.inside == 1);
	for (int i = 0; i < 100; i++)
		CHECK_EQ(sley_send(pid, 1, NULL, 0), 0);
	CHECK_EQ(sley_sleep(2 * SLEY_MSEC), 0);
	CHECK_EQ(life.steps, 1);
	sley_event_set(&event);
	CHECK_SOON(life.messages == 100);
	stop(rt);
	CHECK_EQ(life.empty, 1);
	check_end(&life, -ECANCELED);
}

/* Each message comes when it is about to sleep, sleeps, or is awake again. */
TEST_WORKERS(w07_no_message_is_missed_by_one_that_goes_to_sleep)
{
	struct sley *rt = start();
	struct life life = { 0 };
	sley_pid pid = live(&life);
	int n = test_scale(20000);

	for (int i = 0; i < n; i++) {
		CHECK_EQ(sley_send(pid, 1, NULL, 0), 0);
		if (is_single())
			CHECK_SOON(life.messages == i + 1);
		for (int k = (int)test_random(200); k > 0; k--)
			(void)atomic_load(&life.messages);
	}
	CHECK_SOON(life.messages == n);
	stop(rt);
	CHECK_EQ(life.empty, 1);
}

static enum sley_step sends_itself_one(struct life *life,
				       struct sley_msg *const *msg, size_t nr,
				       struct sley_out *out)
{
	(void)msg;
	(void)nr;
	(void)out;
	if (life->messages < 100)
		CHECK_EQ(sley_send(sley_self(), 1, NULL, 0), 0);
	return SLEY_WAIT;
}

/* With a budget of one message each turn has one that comes too late for it. */
TEST_WORKERS(w07_what_comes_in_the_last_step_of_a_turn_is_not_missed)
{
	struct life life = { .then = sends_itself_one };
	struct sley *rt = start();

	(void)live_as(&life, SLEY_PROCESS_OPTIONS(.budget = 1));
	CHECK_SOON(life.messages == 100);
	stop(rt);
	CHECK_EQ(life.empty, 1);
}

/* ---- W8: a spawn that fails, in init or after it ------------------------------------------- */

static void check_taken_back(struct life *life, int err)
{
	CHECK_EQ(life->inits, 1);
	CHECK_EQ(life->steps, 0);
	CHECK_EQ(life->closes, 1);
	CHECK_EQ(life->reason, err);
}

/* A start that init refuses leaves no process, no name, and no place taken. */
TEST_WORKERS(w08_a_start_that_init_refuses_undoes_everything)
{
	const struct sley_process_options *named =
		SLEY_PROCESS_OPTIONS(.name = "refused");
	struct sley_behaviour refusing = living;
	struct sley_config config = *test_config();
	struct life refused = { 0 }, life = { 0 };
	sley_pid pid = 77;
	struct sley *rt;

	refusing.init = fails;
	config.max_processes = 1;
	rt = start_with(&config);
	for (int i = 0; i < 100; i++) {
		CHECK_EQ(sley_process_spawn(&pid, &refusing, &refused,
					    sizeof(refused), named),
			 -EILSEQ);
		CHECK_EQ(pid, SLEY_NO_PID);
		CHECK_EQ(sley_process_count(), 0);
		CHECK_EQ(sley_name_find("refused"), SLEY_NO_PID);
	}
	CHECK_EQ(refused.steps, 0);
	pid = live_as(&life, named);
	CHECK_EQ(sley_name_find("refused"), pid);
	stop(rt);
	CHECK_EQ(refused.closes, 0);
	CHECK_EQ(life.closes, 1);
}

TEST_WORKERS(w08_a_spawn_that_fails_after_init_closes_once)
{
	struct life life = { 0 };
	struct sley *rt;
	sley_pid pid = 77;

	if (is_single())
		test_skip("a bound thread is a worker here");
	rt = start();
	CHECK_EQ(sley_process_spawn(&pid, &living, &life, sizeof(life),
				    SLEY_PROCESS_OPTIONS(.pinned = true)),
		 SLEY_ENOWORKER);
	check_taken_back(&life, SLEY_ENOWORKER);
	CHECK_EQ(pid, SLEY_NO_PID);
	stop(rt);
}

static int never_runs(void *arg)
{
	(void)arg;
	CHECK(false);
	return 0;
}

TEST_WORKERS(w08_a_runtime_that_is_being_destroyed_takes_no_new_processes)
{
	struct sley_config config = *test_config();
	struct life life = { 0 };
	struct gate gate = { 0 };
	struct sley *rt;
	sley_pid pid = 77;

	if (is_single())
		test_skip("only bound threads spawn here");
	config.report = hear_nothing;
	CHECK_EQ(sley_create(&rt, &config), 0);
	CHECK_EQ(sley_schedule_on(rt, gate_task, &gate, NULL), 0);
	CHECK_EQ(sley_destroy_until(rt, 0), -ETIMEDOUT);
	CHECK_EQ(sley_process_spawn(&pid, &living, &life, sizeof(life),
				    SLEY_PROCESS_OPTIONS(.runtime = rt)),
		 -ESHUTDOWN);
	check_taken_back(&life, -ESHUTDOWN);
	CHECK_EQ(sley_actor_spawn(&pid, never_runs, NULL,
				  SLEY_PROCESS_OPTIONS(.runtime = rt)),
		 -ESHUTDOWN);
	CHECK_EQ(pid, SLEY_NO_PID);
	gate_open(&gate);
	CHECK_EQ(sley_destroy(rt), 0);
}

TEST_WORKERS(w08_a_name_that_is_taken_closes_once_and_says_by_whom)
{
	const struct sley_process_options *named =
		SLEY_PROCESS_OPTIONS(.name = "only one");
	struct sley *rt = start();
	struct life life[2] = { { 0 } };
	sley_pid first = live_as(&life[0], named), pid;

	CHECK_EQ(sley_process_spawn(&pid, &living, &life[1], sizeof(life[1]),
				    named),
		 -EEXIST);
	CHECK_EQ(pid, first);
	check_taken_back(&life[1], -EEXIST);
	stop(rt);
}

TEST_WORKERS(w08_options_that_make_no_sense_are_errors_and_run_nothing)
{
	static const struct sley_behaviour no_step = { .name = "no step" };
	struct sley_process_options no_size = { .size = 0 };
	struct sley *rt = start();
	struct life life = { 0 };
	uint64_t number;

#define SPAWN(...)                                                             \
	sley_process_spawn(NULL, &living, &life, sizeof(life), __VA_ARGS__)
	CHECK_EQ(SPAWN(&no_size), -EINVAL);
	CHECK_EQ(SPAWN(SLEY_PROCESS_OPTIONS(.priority = 32)), SLEY_EPRIORITY);
	CHECK_EQ(SPAWN(SLEY_PROCESS_OPTIONS(.priority = -33)), SLEY_EPRIORITY);
	CHECK_EQ(SPAWN(SLEY_PROCESS_OPTIONS(.link = true)), -EINVAL);
	CHECK_EQ(SPAWN(SLEY_PROCESS_OPTIONS(.monitor = &number)), -EINVAL);
#undef SPAWN
	CHECK_EQ(sley_process_spawn(NULL, &no_step, NULL, 0, NULL), -EINVAL);
	CHECK_EQ(sley_process_spawn(NULL, NULL, NULL, 0, NULL), -EINVAL);
	CHECK_EQ(sley_actor_spawn(NULL, NULL, NULL, NULL), -EINVAL);
	stop(rt);
	CHECK_EQ(life.inits, 0);
	CHECK_EQ(sley_process_spawn(NULL, &living, &life, sizeof(life), NULL),
		 SLEY_ENORUNTIME);
	CHECK_EQ(life.inits, 0);
}

/* ---- W11: one process serves all --------------------------------------------------------- */

static atomic_int freed;

static void count_freed(void *data)
{
	(void)data;
	freed++;
}

/* Bytes of address space, of which the pool of messages is a part. */
static long mapped_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long pages = 0;

	CHECK(file != NULL);
	CHECK_EQ(fscanf(file, "%ld", &pages), 1);
	fclose(file);
	return pages * sysconf(_SC_PAGESIZE);
}

/* Each message has something to be freed: a message that stays is seen. */
static void *flood_owned(void *arg)
{
	static char bytes[100];
	struct flood *f = arg;

	for (int i = 0; i < f->nr; i++)
		CHECK_EQ(sley_send_owned(f->pid, 1, bytes, sizeof(bytes),
					 count_freed),
			 0);
	return NULL;
}

TEST_WORKERS(w11_one_process_serves_again_and_again)
{
	struct sley *rt = start();
	struct life life = { 0 };
	struct flood f = { live(&life), test_scale(100000) };
	struct sley_process_info info;
	int64_t before;
	long mapped;

	freed = 0;
	/* The first one finds out how much is under way at once. */
	(void)flood_owned(&f);
	CHECK_SOON(life.messages == f.nr);
	CHECK_SOON(freed == f.nr);
	before = test_allocated();
	mapped = mapped_bytes();
	for (int round = 2; round <= 4; round++) {
		/* No more at once than in the first flood. */
		(void)flood_owned(&f);
		CHECK_SOON(life.messages == round * f.nr);
		CHECK_SOON(freed == round * f.nr);
	}
	CHECK_EQ(test_allocated(), before);
	/* A message that is not used again is 64 bytes: 3 floods of them. */
	if (!test_sanitizer() && !test_is_chaotic() && test_scale(1000) == 1000)
		CHECK_LE(mapped_bytes() - mapped, f.nr * 64L * 2);
	CHECK_EQ(sley_process_inspect(f.pid, &info), 0);
	CHECK_EQ(info.handled, 4 * (uint64_t)f.nr);
	stop(rt);
	CHECK_EQ(life.inits, 1);
	CHECK_EQ(life.empty, 1);
	check_end(&life, -ECANCELED);
}
