/* SPDX-License-Identifier: MIT */
/*
 * no_loans.c - for models in which all tasks have the same level, and no task promises
 * anything: no wait comes to src/core/wait/loan.c, which core_loan.c explores.
 */
#include "core/wait/loan.h"

#include "explorer.h"

static void never(void)
{
	MODEL_CHECK(!"a loan");
}

uint32_t sley__nr_promises;

struct loan_thing *loan_prepare(void)
{
	never();
	return NULL;
}

void loan_free(struct loan_thing *thing)
{
	if (thing)
		never();
}

struct loan_thing *loan_begin(struct loan *loan, const void *key,
			      struct sley_task *to, struct loan_thing *memory)
{
	(void)loan;
	(void)key;
	(void)to;
	never();
	return memory;
}

struct loan_thing *loan_end(struct loan *loan)
{
	if (loan->thing)
		never();
	return NULL;
}

struct loan_thing *loan_pass(const void *key, struct sley_task *from,
			     struct sley_task *to)
{
	(void)key;
	(void)from;
	(void)to;
	never();
	return NULL;
}

void loan_promise(struct sley_task *task, const void *key)
{
	(void)task;
	(void)key;
	never();
}

void loan_forgive(struct sley_task *task)
{
	(void)task;
	never();
}
