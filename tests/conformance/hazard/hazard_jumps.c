/* SPDX-License-Identifier: MIT */
/*
 * hazard_jumps.c - fiber hazards: leaving frames in other ways than by return.
 *
 * longjmp() within a task is legal (t26_longjmp_works_inside_one_fiber), also
 * over waits.  To another task's frames it is forbidden: the C library notices
 * if it was built to check, as here with _FORTIFY_SOURCE, and if the other
 * stack happens to lie lower; otherwise anything may happen.
 *
 * Contexts of <ucontext.h>, and whatever else switches stacks within a task,
 * are the task's own business: it may also wait on them.
 */
#include <setjmp.h>
#include <ucontext.h>

#include "conformance/bound.h"

TEST_PROOF("hazard")

/* ---- longjmp ---------------------------------------------------------------- */

__attribute__((noinline)) static int jump_back(jmp_buf *landing, int depth)
{
	volatile char frame[100];

	if (depth < 0)
		return 0; /* nobody comes here */
	frame[0] = (char)depth;
	sley_yield();
	if (depth == 0)
		longjmp(*landing, 1);
	return jump_back(landing, depth - 1) + frame[0];
}

static void jump_over_waits(void *arg)
{
	volatile int nr = 0;
	jmp_buf landing;

	setjmp(landing);
	if (nr++ < 5)
		CHECK_EQ(jump_back(&landing, 10), -1); /* does not return */
	sley_yield();
	count_task(arg);
}

static void run_many(sley_fn *fn, bool migratable)
{
	struct sley_config config = *test_config();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[20];
	atomic_int ran = 0;
	struct sley *rt;

	config.migratable = migratable;
	rt = start_with(&config);
	for (int i = 0; i < 20; i++)
		sley_spawn(&group, &task[i], fn, &ran);
	sley_join(&group);
	CHECK_EQ(ran, 20);
	stop(rt);
}

TEST_WORKERS(jumps_within_a_task_may_leave_frames_that_have_waited)
{
	run_many(jump_over_waits, false);
}

TEST_WORKERS(jumps_within_a_task_work_where_tasks_move)
{
	run_many(jump_over_waits, true);
}

struct landing {
	jmp_buf buf;
	char *place;
	struct sley_event set;
};

static struct landing landings[2];

static void set_landing(void *arg)
{
	struct landing *l = arg;
	char here;

	l->place = &here;
	if (setjmp(l->buf))
		_exit(3); /* it has been jumped to */
	sley_event_set(&l->set);
	CHECK_EQ(sley_sleep(10 * SLEY_SEC), 0);
}

/* From the task whose stack is higher to the one whose is lower. */
static void jump_across(void *arg)
{
	struct landing *l = arg;
	char here;

	CHECK_EQ(sley_event_wait(&landings[0].set), 0);
	CHECK_EQ(sley_event_wait(&landings[1].set), 0);
	for (int i = 0; i < 2; i++)
		if (l[i].place < &here)
			longjmp(l[i].buf, 1);
}

TEST_ABORTS(jumps_to_another_task_are_noticed_by_a_checking_library,
	    "longjmp causes uninitialized stack frame")
{
	struct sley_config config = config_of(1);
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[4];
	struct sley *rt;

	if (test_is_slow())
		test_skip("the sanitizer has a longjmp() of its own");
	rt = start_with(&config);
	sley_spawn(&group, &task[0], set_landing, &landings[0]);
	sley_spawn(&group, &task[1], set_landing, &landings[1]);
	/* One of two lies higher than one of the other two. */
	sley_spawn(&group, &task[2], jump_across, landings);
	sley_spawn(&group, &task[3], jump_across, landings);
	sley_join(&group);
	stop(rt);
}

/* ---- swapcontext -------------------------------------------------------------- */

struct generator {
	ucontext_t own, caller;
	char stack[64 << 10] __attribute__((aligned(16)));
	int value;
};

static void generate(unsigned int high, unsigned int low)
{
	struct generator *g =
		(struct generator *)(((uintptr_t)high << 32) | low);

	for (int i = 1; i <= 10; i++) {
		g->value = i;
		/* A wait on a stack that sley knows nothing of. */
		sley_yield();
		CHECK_EQ(sley_sleep(SLEY_USEC), 0);
		CHECK_EQ(swapcontext(&g->own, &g->caller), 0);
	}
	for (;;)
		CHECK_EQ(swapcontext(&g->own, &g->caller), 0);
}

static void use_generator(void *arg)
{
	struct generator *g = arg;
	uintptr_t word = (uintptr_t)g;

	CHECK_EQ(getcontext(&g->own), 0);
	g->own.uc_stack.ss_sp = g->stack;
	g->own.uc_stack.ss_size = sizeof(g->stack);
	g->own.uc_link = NULL;
	makecontext(&g->own, (void (*)(void))(uintptr_t)generate, 2,
		    (unsigned int)(word >> 32), (unsigned int)word);
	for (int i = 1; i <= 10; i++) {
		CHECK_EQ(swapcontext(&g->caller, &g->own), 0);
		CHECK_EQ(g->value, i);
		sley_yield();
	}
}

TEST_WORKERS(jumps_of_contexts_within_a_task_may_wait_on_their_stacks)
{
	static struct generator generators[8];
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[8];
	struct sley *rt;

	if (test_sanitizer())
		test_skip("nobody tells the sanitizer about these stacks");
	rt = start();
	for (int i = 0; i < 8; i++)
		sley_spawn(&group, &task[i], use_generator, &generators[i]);
	sley_join(&group);
	for (int i = 0; i < 8; i++)
		CHECK_EQ(generators[i].value, 10);
	stop(rt);
}
