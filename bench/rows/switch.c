/* SPDX-License-Identifier: MIT */
/*
 * switch.c - row `switch`: the bare switch between two stacks.
 *
 * The only row that does not use <sley/sley.h>: the row measures the mechanism of
 * src/fiber/fiber.h as the worker uses it, errno and C++ exception globals included.
 * A separate program, linked with the internal library.
 */
#include "../measure.h"

#include "fiber/fiber.h"
#include "mem/stack.h"

static struct fiber here, partner;

static void answer(void *arg, struct fiber_thread *thread)
{
	uint64_t *turns = arg;

	for (;;) {
		++*turns;
		thread = fiber_switch(&partner, &here, thread);
	}
}

static void run_switch(const struct measure *m)
{
	uint64_t nr = measure_size(m, SWITCH_TURNS), turns = 0, start;
	struct fiber_thread self, *thread = &self;
	struct stack_pool pool;
	struct stack stack;

	fiber_thread_init(thread);
	MEASURE_CHECK(m, stack_pool_init(&pool, 64 * 1024, false) == 0);
	MEASURE_CHECK(m, stack_pool_get(&pool, &stack) == 0);
	fiber_init_thread(&here, thread);
	fiber_init(&partner, &stack, answer, &turns);
	thread = fiber_switch(&here, &partner, thread);
	start = measure_now();
	for (uint64_t i = 0; i < nr; i++)
		thread = fiber_switch(&here, &partner, thread);
	measure_report_each("ns", start, 2 * nr);
	MEASURE_CHECK(m, turns == nr + 1);
	fiber_fini(&partner);
	stack_pool_put(&pool, &stack);
	stack_pool_fini(&pool);
	fiber_thread_fini(thread);
}

int main(int argc, char **argv)
{
	static const struct measure_row rows[] = {
		{ "switch", run_switch },
	};

	return measure_main(argc, argv, rows, sizeof(rows) / sizeof(rows[0]));
}
