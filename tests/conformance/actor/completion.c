/* SPDX-License-Identifier: MIT */
/*
 * completion.c - how commands complete: W21 to W23, T3, T12, T14, T33.  What is
 * yielded, and who sees to it, is in command.c.
 */
#include "conformance/actor/stepper.h"

#include <sched.h>
#include <stdio.h>

enum { CMD = 100, OTHER, UNKNOWN = 999 };

static bool is_done(const struct sley_msg *msg, uint64_t tag)
{
	return msg->kind == SLEY_DONE && msg->tag == tag;
}

static void handle(sley_handler *handler, void *arg)
{
	CHECK_EQ(sley_command_handle(CMD, handler, arg, NULL), 0);
}

/* Yields CMD with tag 1, and ends with the error it completes with. */
static enum sley_step yield_one(struct stepper *s, struct sley_msg *const *msg,
				size_t nr, struct sley_out *out)
{
	if (s->steps == 1) {
		CHECK_EQ(sley_out_yield(out, CMD, 1, s), 0);
		return SLEY_WAIT;
	}
	CHECK_EQ(nr, 1);
	CHECK(is_done(msg[0], 1));
	return sley_out_done(out, msg[0]->error);
}

static int run_one(void)
{
	struct stepper s = { .step = yield_one };

	return stepper_run(&s);
}

static int keep(const struct sley_command *command, void *arg)
{
	*(struct sley_command *)arg = *command;
	return 0;
}

/* ---- W21 --------------------------------------------------------------------- */

static int return_error(const struct sley_command *command, void *arg)
{
	(void)command;
	return *(int *)arg;
}

TEST_WORKERS(w21_what_a_handler_returns_below_0_is_the_error)
{
	static const int errors[] = { -1, -EIO, -ENOSYS, -4095, SLEY_EKILLED };
	int error;
	struct sley *rt = start();

	handle(return_error, &error);
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		error = errors[i];
		CHECK_EQ(run_one(), error);
	}
	stop(rt);
}

TEST_WORKERS(w21_a_command_without_a_handler_fails)
{
	struct sley *rt = start();

	CHECK_EQ(run_one(), -ENOSYS);
	stop(rt);
}

static enum sley_step yield_unknown(struct stepper *s,
				    struct sley_msg *const *msg, size_t nr,
				    struct sley_out *out)
{
	static const uint32_t ids[] = { UNKNOWN, SLEY_COMMAND_MAX,
					SLEY_COMMAND_MAX + 1, UINT32_MAX };

	if (s->steps == 1) {
		for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
			CHECK_EQ(sley_out_yield(out, ids[i], i, NULL), 0);
		return SLEY_WAIT;
	}
	for (size_t i = 0; i < nr; i++, s->value++) {
		CHECK(is_done(msg[i], (uint64_t)s->value));
		CHECK_EQ(msg[i]->error, -ENOSYS);
	}
	return s->value == 4 ? sley_out_done(out, 0) : SLEY_WAIT;
}

TEST_WORKERS(w21_a_command_that_cannot_have_a_handler_fails_too)
{
	struct stepper s = { .step = yield_unknown };
	struct sley *rt = start();

	CHECK_EQ(stepper_run(&s), 0);
	stop(rt);
}

/* ---- what it is completed with --------------------------------------------------- */

static const size_t sizes[] = { 0, 1, 8, 16, 17, 64, 1000, 100000 };
static unsigned char bytes[100000];

static int complete_with_bytes(const struct sley_command *command, void *arg)
{
	(void)arg;
	return sley_command_complete(command->pid, command->tag, bytes,
				     sizes[command->tag]);
}

static enum sley_step check_bytes(struct stepper *s,
				  struct sley_msg *const *msg, size_t nr,
				  struct sley_out *out)
{
	if (s->steps == 1) {
		for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
			CHECK_EQ(sley_out_yield(out, CMD, i, NULL), 0);
		return SLEY_WAIT;
	}
	for (size_t i = 0; i < nr; i++, s->value++) {
		CHECK_EQ(msg[i]->kind, SLEY_DONE);
		CHECK_EQ(msg[i]->error, 0);
		CHECK_EQ(msg[i]->size, sizes[msg[i]->tag]);
		if (msg[i]->size)
			CHECK_EQ(memcmp(msg[i]->data, bytes, msg[i]->size), 0);
	}
	return s->value == ARRAY_SIZE(sizes) ? sley_out_done(out, 0)
					     : SLEY_WAIT;
}

TEST_WORKERS(w21_a_command_completes_with_bytes)
{
	struct stepper s = { .step = check_bytes };
	struct sley *rt = start();

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(i * 7);
	handle(complete_with_bytes, NULL);
	CHECK_EQ(stepper_run(&s), 0);
	stop(rt);
}

static void *complete_elsewhere(void *arg)
{
	const struct sley_command *command = arg;

	test_nap_ms(1);
	CHECK_EQ(sley_command_complete_error(command->pid, command->tag,
					     -EPIPE),
		 0);
	return NULL;
}

static int let_a_thread_complete(const struct sley_command *command, void *arg)
{
	static struct sley_command copy;

	copy = *command;
	*(pthread_t *)arg = test_thread(complete_elsewhere, &copy);
	return 0;
}

TEST_WORKERS(w21_a_plain_thread_completes_it_later)
{
	pthread_t thread;
	struct sley *rt = start();

	handle(let_a_thread_complete, &thread);
	CHECK_EQ(run_one(), -EPIPE);
	pthread_join(thread, NULL);
	stop(rt);
}

TEST_ABORTS(w21_an_error_is_below_0,
	    "a command must fail with a negative error")
{
	(void)sley_command_complete_error(1, 1, 5);
}

/* ---- W22 ------------------------------------------------------------------------ */

static void handle_in(sley_handler *handler, void *arg, uint64_t timeout_ns)
{
	struct sley_handler_options options = { .size = sizeof(options),
						.timeout_ns = timeout_ns };

	CHECK_EQ(sley_command_handle(CMD, handler, arg, &options), 0);
}

TEST_WORKERS(w22_a_command_that_is_not_complete_in_time_fails)
{
	struct sley_command command;
	uint64_t begin_ns = sley_now();
	struct sley *rt = start();

	handle_in(keep, &command, 20 * SLEY_MSEC);
	CHECK_EQ(run_one(), -ETIMEDOUT);
	CHECK_GE(ms_since(begin_ns), 20);
	/* It may not be gone yet. */
	while (sley_command_complete(command.pid, command.tag, NULL, 0) !=
	       -ESRCH)
		CHECK_EQ(sley_sleep(SLEY_MSEC / 10), 0);
	stop(rt);
}

static int complete_now(const struct sley_command *command, void *arg)
{
	(void)arg;
	return sley_command_complete(command->pid, command->tag, NULL, 0);
}

/* One after the other, each in time. */
static enum sley_step yield_in_turn(struct stepper *s,
				    struct sley_msg *const *msg, size_t nr,
				    struct sley_out *out)
{
	for (size_t i = 0; i < nr; i++)
		CHECK(is_done(msg[i], 1) && !msg[i]->error);
	if (s->steps > s->value)
		return sley_out_done(out, 0);
	CHECK_EQ(sley_out_yield(out, CMD, 1, NULL), 0);
	return SLEY_WAIT;
}

static long resident_kib(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long total = 0, resident = 0;

	CHECK(file && fscanf(file, "%ld %ld", &total, &resident) == 2);
	fclose(file);
	return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static enum sley_step yield_and_measure(struct stepper *s,
					struct sley_msg *const *msg, size_t nr,
					struct sley_out *out)
{
	long *before = s->arg;

	if (s->steps == 1000)
		*before = resident_kib();
	/* So many alarms would take ten times as much. */
	if (s->steps == s->value && !test_sanitizer())
		CHECK_LT(resident_kib() - *before, s->value / 64);
	return yield_in_turn(s, msg, nr, out);
}

TEST_WORKERS(w22_a_command_that_is_complete_in_time_leaves_no_timer)
{
	long before;
	struct stepper s = { .step = yield_and_measure,
			     .arg = &before,
			     .value = 64000 };
	struct sley *rt = start();

	handle_in(complete_now, NULL, 3600 * SLEY_SEC);
	CHECK_EQ(stepper_run(&s), 0);
	stop(rt);
}

/* The two come together. */
static enum sley_step yield_close(struct stepper *s,
				  struct sley_msg *const *msg, size_t nr,
				  struct sley_out *out)
{
	for (size_t i = 0; i < nr; i++, s->value--) {
		CHECK_EQ(msg[i]->kind, SLEY_DONE);
		CHECK(!msg[i]->error || msg[i]->error == -ETIMEDOUT);
	}
	if (s->steps > 500 && !s->value)
		return sley_out_done(out, 0);
	if (s->steps <= 500 && !sley_out_yield(out, CMD, (uint64_t)s->steps, s))
		s->value++;
	return s->steps <= 500 ? SLEY_CONTINUE : SLEY_WAIT;
}

static atomic_uint_least64_t last_tag;
static atomic_bool over;

static int note_tag(const struct sley_command *command, void *arg)
{
	(void)arg;
	atomic_store(&last_tag, command->tag);
	return 0;
}

static void *complete_close(void *arg)
{
	sley_pid pid = *(sley_pid *)arg;

	while (!atomic_load(&over)) {
		int err = sley_command_complete(pid, atomic_load(&last_tag),
						NULL, 0);

		CHECK(!err || err == -ESRCH);
		if (test_random(4) == 0)
			sched_yield();
	}
	return NULL;
}

TEST_WORKERS(w22_completion_and_timeout_come_together)
{
	struct stepper s = { .step = yield_close };
	struct sley *rt = start();
	pthread_t thread;
	sley_pid pid;

	atomic_store(&over, false);
	handle_in(note_tag, NULL, 1);
	pid = stepper_spawn(&s);
	thread = test_thread(complete_close, &pid);
	CHECK_EQ(stepper_join(&s), 0);
	atomic_store(&over, true);
	pthread_join(thread, NULL);
	stop(rt);
}

static enum sley_step yield_and_end(struct stepper *s,
				    struct sley_msg *const *msg, size_t nr,
				    struct sley_out *out)
{
	(void)msg;
	(void)nr;
	if (s->steps > 1)
		return sley_out_done(out, 0);
	for (uint64_t i = 0; i < 100; i++)
		CHECK_EQ(sley_out_yield(out, CMD, i, NULL), 0);
	return SLEY_CONTINUE;
}

TEST_WORKERS(w22_a_process_ends_before_its_commands_are_late)
{
	struct sley_command command;
	struct sley *rt = start();

	handle_in(keep, &command, SLEY_MSEC / 100);
	for (int i = 0; i < test_scale(100); i++) {
		struct stepper s = { .step = yield_and_end };

		CHECK_EQ(stepper_run(&s), 0);
	}
	stop(rt);
}

/* ---- W23 -------------------------------------------------------------------------- */

struct weight {
	int64_t allocated;
	long resident_kib;
};

static enum sley_step yield_and_weigh(struct stepper *s,
				      struct sley_msg *const *msg, size_t nr,
				      struct sley_out *out)
{
	struct weight *before = s->arg;

	if (s->steps == 100)
		*before = (struct weight){ test_allocated(), resident_kib() };
	if (s->steps == s->value)
		CHECK_LE(test_allocated(), before->allocated + 4096);
	/* A message that is not given back is 64 bytes of a pool. */
	if (s->steps == s->value && !test_sanitizer())
		CHECK_LE(resident_kib() - before->resident_kib,
			 s->value * 64L / 2 / 1024);
	return yield_in_turn(s, msg, nr, out);
}

TEST_WORKERS(w23_commands_leave_no_memory_behind)
{
	struct weight before;
	struct stepper s = { .step = yield_and_weigh,
			     .arg = &before,
			     .value = 64000 };
	struct sley *rt = start();

	handle(complete_now, NULL);
	CHECK_EQ(stepper_run(&s), 0);
	stop(rt);
}

/* ---- T3: when a completion comes ---------------------------------------------------- */

static int nr_rounds;

/*
 * @handler is given one command after the other.  Each of them completes once; if
 * one is lost the process never ends.  @go_on: the step says SLEY_CONTINUE while
 * it waits.
 */
static enum sley_step one_by_one(struct stepper *s, struct sley_msg *const *msg,
				 size_t nr, struct sley_out *out)
{
	CHECK_LE(nr, 1);
	if (nr)
		CHECK(is_done(msg[0], (uint64_t)s->value));
	if (nr || s->steps == 1) {
		if (s->value == nr_rounds)
			return sley_out_done(out, 0);
		s->value++;
		CHECK_EQ(sley_out_yield(out, CMD, (uint64_t)s->value, s), 0);
	}
	return s->arg ? SLEY_CONTINUE : SLEY_WAIT;
}

static void check_when(sley_handler *handler, void *arg, int rounds, bool go_on)
{
	struct stepper s = { .step = one_by_one, .arg = go_on ? &s : NULL };
	struct sley *rt = start();

	nr_rounds = test_scale(rounds);
	handle(handler, arg);
	CHECK_EQ(stepper_run(&s), 0);
	CHECK_EQ(sley_command_unhandle(CMD), 0);
	stop(rt);
}

TEST_WORKERS(t03_a_completion_inside_the_handler_then_wait)
{
	check_when(complete_now, NULL, 2000, false);
}

TEST_WORKERS(t03_a_completion_inside_the_handler_then_continue)
{
	check_when(complete_now, NULL, 2000, true);
}

/* A thread that completes what it is given, at once or a little later. */
struct completer {
	struct sley_command command;
	atomic_bool given, over;
	bool late;
};

static void *complete_what_is_given(void *arg)
{
	struct completer *c = arg;

	while (!atomic_load(&c->over)) {
		if (!atomic_load(&c->given)) {
			sched_yield();
			continue;
		}
		if (c->late)
			test_nap_ms(0);
		for (uint64_t i = test_random(200); i > 0; i--)
			atomic_thread_fence(memory_order_seq_cst);
		atomic_store(&c->given, false);
		CHECK_EQ(sley_command_complete(c->command.pid, c->command.tag,
					       NULL, 0),
			 0);
	}
	return NULL;
}

static int give(const struct sley_command *command, void *arg)
{
	struct completer *c = arg;

	c->command = *command;
	atomic_store(&c->given, true);
	return 0;
}

static void check_completer(bool late, bool go_on)
{
	struct completer c = { .late = late };
	pthread_t thread = test_thread(complete_what_is_given, &c);

	check_when(give, &c, 200, go_on);
	atomic_store(&c.over, true);
	pthread_join(thread, NULL);
}

TEST_WORKERS(t03_a_completion_as_the_handler_returns_then_wait)
{
	check_completer(false, false);
}

TEST_WORKERS(t03_a_completion_as_the_handler_returns_then_continue)
{
	check_completer(false, true);
}

TEST_WORKERS(t03_a_completion_after_the_step_then_wait)
{
	check_completer(true, false);
}

TEST_WORKERS(t03_a_completion_after_the_step_then_continue)
{
	check_completer(true, true);
}
