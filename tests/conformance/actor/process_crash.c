/* SPDX-License-Identifier: MIT */
/*
 * process_crash.c - a process that takes the whole program down says which one it
 * was, first.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>

#include "conformance/actor/process.h"

static volatile char *volatile nowhere = (volatile char *)16;

static void skip_sanitizers(void)
{
	if (test_sanitizer())
		test_skip("the sanitizer has a say in it");
}

static int crashes(void *arg)
{
	struct sley_msg *msg;

	(void)arg;
	CHECK_EQ(sley_receive_until(&msg, in_ms(1)), -ETIMEDOUT);
	*nowhere = 1;
	return 0;
}

TEST_ABORTS(an_actor_that_crashes_is_named, "sley: crash in fiber \"clumsy\"")
{
	struct sley *rt;

	skip_sanitizers();
	rt = start();
	CHECK_EQ(sley_actor_spawn(NULL, crashes, NULL,
				  SLEY_PROCESS_OPTIONS(.label = "clumsy")),
		 0);
	CHECK_SOON(rt == NULL);
}

static enum sley_step step_crashes(struct life *life,
				   struct sley_msg *const *msg, size_t nr,
				   struct sley_out *out)
{
	(void)life;
	(void)msg;
	(void)out;
	if (nr)
		*nowhere = 1;
	return SLEY_WAIT;
}

static void crash_in_step(const struct sley_process_options *options)
{
	struct life life = { .then = step_crashes };
	struct sley *rt;

	skip_sanitizers();
	rt = start();
	CHECK_EQ(sley_send(live_as(&life, options), 1, NULL, 0), 0);
	CHECK_SOON(rt == NULL);
}

TEST_ABORTS(a_step_that_crashes_is_named, "sley: crash in fiber \"fool\"")
{
	crash_in_step(SLEY_PROCESS_OPTIONS(.label = "fool"));
}

TEST_ABORTS(a_step_that_crashes_is_named_by_its_behaviour,
	    "sley: crash in fiber \"living\"")
{
	crash_in_step(NULL);
}

__attribute__((noinline)) static int use_stack(int kib)
{
	volatile char page[1024];

	page[0] = (char)kib;
	return kib ? use_stack(kib - 1) + page[0] : 0;
}

static enum sley_step step_overflows(struct life *life,
				     struct sley_msg *const *msg, size_t nr,
				     struct sley_out *out)
{
	(void)life;
	(void)msg;
	(void)out;
	return nr && use_stack(1 << 20) ? SLEY_CONTINUE : SLEY_WAIT;
}

TEST_ABORTS(a_step_that_overflows_is_named,
	    "stack overflow in fiber \"greedy\"")
{
	struct life life = { .then = step_overflows };
	struct sley *rt = start();
	sley_pid pid = live_as(&life, SLEY_PROCESS_OPTIONS(.label = "greedy"));

	CHECK_EQ(sley_send(pid, 1, NULL, 0), 0);
	CHECK_SOON(rt == NULL);
}

/* ---- who has a handler of its own ------------------------------------------------------ */

static sigjmp_buf back;

static void jump_back(int number)
{
	(void)number;
	siglongjmp(back, 1);
}

static int crashes_and_goes_on(void *arg)
{
	if (!sigsetjmp(back, 1))
		*nowhere = 1;
	count_task(arg);
	return 0;
}

/* Nobody says that it was one: the program lives on. */
TEST(a_fault_that_somebody_handles_is_no_crash)
{
	struct sigaction action = { .sa_handler = jump_back,
				    .sa_flags = SA_NODEFER };
	atomic_int done = 0;
	struct sley *rt;
	int out[2];
	char text[4096] = "";

	skip_sanitizers();
	CHECK_EQ(sigaction(SIGSEGV, &action, NULL), 0);
	CHECK_EQ(pipe2(out, O_NONBLOCK), 0);
	CHECK_EQ(dup2(out[1], STDERR_FILENO), STDERR_FILENO);
	rt = start();
	(void)actor(crashes_and_goes_on, &done);
	CHECK_SOON(done);
	stop(rt);
	(void)!read(out[0], text, sizeof(text) - 1);
	CHECK(!strstr(text, "crash"));
	close(out[0]);
	close(out[1]);
}
