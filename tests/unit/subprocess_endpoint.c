/* SPDX-License-Identifier: MIT */
/*
 * subprocess_endpoint.c - a subprocess that runs nodes, or goes mad.
 */
#include "harness/test.h"

#include "subprocess/subprocess.h"

#include <errno.h>
#include <sley/error.h>
#include <stdlib.h>
#include <string.h>

/* ---- nodes ------------------------------------------------------------------------ */

struct numbers {
	int a, b;
};

/* No function of the table: it is found by its address. */
static int add(void *arg)
{
	const struct numbers *numbers = arg;

	return numbers->a + numbers->b;
}

static int has_no_argument(void *arg)
{
	return arg ? -EINVAL : 0;
}

static int die(void *arg)
{
	(void)arg;
	abort();
}

static int refuse(void *arg)
{
	(void)arg;
	return -EDOM;
}

/* ---- a mad one --------------------------------------------------------------------- */

/*
 * All that is shared is overwritten; the slot of this call is the first one.  The
 * request for a signal stays: a subprocess that takes it away is one that does not
 * answer, and the time limit of a call is for that.
 */
static int scribble(struct sley_subprocess_work *work)
{
	char *slot = (char *)work->result - offsetof(struct call_slot, result);
	char *ring = slot - offsetof(struct call_ring, slot);

	memset(ring + CACHE_LINE, 0xa5 | COUNT_WORD_WATCHED,
	       sizeof(struct call_ring) - CACHE_LINE);
	return 0;
}

/* The rest of it, and then something else kills it, or a slot that is none. */
static int scribble_all(struct sley_subprocess_work *work)
{
	char *slot = (char *)work->result - offsetof(struct call_slot, result);
	struct call_ring *ring =
		(struct call_ring *)(void *)(slot -
					     offsetof(struct call_ring, slot));

	memset(ring, 0xff, sizeof(*ring));
	abort();
}

static struct sley_subprocess *begin(void)
{
	struct sley_subprocess *subprocess = NULL;

	if (test_emulated())
		test_skip("qemu-user dies of threads in the forked child of a "
			  "process with threads");
	CHECK_EQ(sley_subprocess_register("scribble", scribble), 0);
	CHECK_EQ(sley_subprocess_register("scribble_all", scribble_all), 0);
	CHECK_EQ(sley_subprocesses_init(), 0);
	CHECK_EQ(sley_subprocess_create(&subprocess, NULL), 0);
	return subprocess;
}

static void end(struct sley_subprocess *subprocess)
{
	sley_subprocess_destroy(subprocess);
	sley_subprocesses_exit();
}

static struct endpoint_end run(struct sley_subprocess *subprocess,
			       sley_node_fn *fn, const void *arg, uint32_t size)
{
	struct sley_endpoint *endpoint = sley_subprocess_endpoint(subprocess);
	const struct endpoint_work work = { .fn = fn,
					    .arg = arg,
					    .arg_size = size,
					    .deadline_ns = UINT64_MAX };
	struct endpoint_end result;

	CHECK_EQ(endpoint_refuses(endpoint, arg, size), 0);
	endpoint->ops->run(endpoint, &work, &result);
	return result;
}

TEST(any_function_of_the_program_runs_in_a_subprocess)
{
	const struct numbers numbers = { 30, 12 };
	struct sley_subprocess *subprocess = begin();
	struct endpoint_end result =
		run(subprocess, add, &numbers, sizeof(numbers));

	CHECK_EQ(result.outcome, SLEY_OUTCOME_SUCCESS);
	CHECK_EQ(result.code, 42);
	CHECK_EQ(run(subprocess, has_no_argument, NULL, 0).code, 0);
	result = run(subprocess, refuse, NULL, 0);
	CHECK_EQ(result.outcome, SLEY_OUTCOME_FAILURE);
	CHECK_EQ(result.code, -EDOM);
	end(subprocess);
}

TEST(a_crash_is_an_outcome_of_the_endpoint)
{
	struct sley_subprocess *subprocess = begin();
	struct endpoint_end result = run(subprocess, die, NULL, 0);

	CHECK_EQ(result.outcome, SLEY_OUTCOME_ENDPOINT);
	CHECK_EQ(result.code, SLEY_ECHILD);
	CHECK_STR(result.text, "subprocess was killed by signal 6 (Aborted)");
	CHECK_EQ(run(subprocess, has_no_argument, NULL, 0).code, 0);
	end(subprocess);
}

TEST(what_an_endpoint_cannot_do_is_refused_at_once)
{
	struct sley_subprocess *subprocess = begin();
	const struct sley_endpoint *endpoint =
		sley_subprocess_endpoint(subprocess);
	char bytes[SLEY_NODE_ARG_MAX + 1];

	CHECK_EQ(endpoint->width, 1);
	CHECK(endpoint->ops->caps & ENDPOINT_MAY_DIE);
	CHECK(!(endpoint->ops->caps & ENDPOINT_SEES_MEMORY));
	CHECK_EQ(endpoint_refuses(endpoint, bytes, sizeof(bytes)), -EMSGSIZE);
	/* A pointer would lead to nothing there. */
	CHECK_EQ(endpoint_refuses(endpoint, bytes, 0), -EFAULT);
	CHECK_EQ(endpoint_refuses(endpoint, bytes, SLEY_NODE_ARG_MAX), 0);
	end(subprocess);
}

TEST(s23_a_subprocess_that_scribbles_is_killed_and_replaced)
{
	struct sley_subprocess *subprocess = begin();
	struct sley_subprocess_result result = { .data = NULL };

	CHECK_EQ(sley_subprocess_call(subprocess, scribble, NULL, 0, &result),
		 SLEY_ECHILD);
	CHECK_EQ(result.outcome, SLEY_OUTCOME_ENDPOINT);
	CHECK_STR(result.text, "scribble: subprocess was killed: what it wrote "
			       "makes no sense");
	CHECK_EQ(run(subprocess, has_no_argument, NULL, 0).code, 0);
	CHECK_EQ(sley_subprocess_restarts(subprocess), 1);
	end(subprocess);
}

/* Not even how deep the ring is: the next one is told anew. */
TEST(s23_the_next_subprocess_finds_nothing_of_the_last_one)
{
	struct sley_subprocess *subprocess = begin();

	CHECK_EQ(sley_subprocess_call(subprocess, scribble_all, NULL, 0, NULL),
		 SLEY_ECHILD);
	for (int i = 0; i < 40; i++)
		CHECK_EQ(run(subprocess, has_no_argument, NULL, 0).code, 0);
	CHECK_EQ(sley_subprocess_restarts(subprocess), 1);
	end(subprocess);
}
