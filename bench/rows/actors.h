/* SPDX-License-Identifier: MIT */
/*
 * actors.h - shared by the rows about processes.
 *
 * Such a row is a program of processes, of any size, that computes a number.  The
 * first task of the runtime starts the processes, and waits for the number.
 */
#ifndef BENCH_ACTORS_H
#define BENCH_ACTORS_H

#include "rows.h"

#include <errno.h>

/*
 * A process with many messages to send sends so many in a step, and then lets other
 * processes run.  By default a process also receives so many in a row.
 */
#define ACTORS_CHUNK 64

/* The stack that an actor needs, and how many actors there are at a time. */
#define ACTORS_STACK_KIB 16
#define ACTORS_STACKS 1000

/* A number that the first task waits for. */
struct answer {
	struct sley_event there;
	uint64_t value;
};

#define ANSWER_INIT { .there = SLEY_EVENT_INIT }

static inline void answer_give(struct answer *answer, uint64_t value)
{
	answer->value = value;
	sley_event_set(&answer->there);
}

static inline uint64_t answer_take(struct answer *answer)
{
	(void)!sley_event_wait(&answer->there);
	return answer->value;
}

/* The word that a message carries. */
static inline uint64_t actors_word(const struct sley_msg *msg)
{
	return *(const uint64_t *)msg->data;
}

static inline void actors_send(sley_pid to, uint64_t tag, uint64_t word)
{
	sley_send(to, tag, &word, sizeof(word));
}

/* An init that copies the input to the state. */
static inline int actors_init(void *self, const char *method, const void *input,
			      size_t size)
{
	(void)method;
	memcpy(self, input, size);
	return 0;
}

/* A step process that begins with a copy of @state, or with zeroes. */
static inline sley_pid actors_spawn(const struct measure *m,
				    const struct sley_behaviour *behaviour,
				    const void *state)
{
	sley_pid pid = SLEY_NO_PID;

	MEASURE_CHECK(m, sley_process_spawn(&pid, behaviour, state,
					    behaviour->size, NULL) == 0);
	return pid;
}

static inline sley_pid actors_spawn_fiber(const struct measure *m,
					  sley_actor_fn *fn, void *arg)
{
	sley_pid pid = SLEY_NO_PID;

	MEASURE_CHECK(m, sley_actor_spawn(&pid, fn, arg, NULL) == 0);
	return pid;
}

/* Runs a program of size @nr, and checks the resulting number. */
typedef void actors_program(const struct measure *m, uint64_t nr);

struct actors_row {
	const struct measure *m;
	actors_program *program;
	const char *metric;
	uint64_t nr;
	uint64_t per; /* operations per unit of the size */
};

static inline void actors_root(void *arg)
{
	struct actors_row *row = arg;
	uint64_t start;

	row->program(row->m, row->nr < 10 ? 1 : row->nr / 10);
	start = measure_now();
	row->program(row->m, row->nr);
	measure_report_each(row->metric, start, row->nr * row->per);
}

/*
 * Runs a program in a new runtime: untimed at a tenth of the size, to get warm,
 * then timed, in ns per operation.
 */
static inline void actors_run(const struct measure *m, actors_program *program,
			      const char *metric, uint64_t full, uint64_t per)
{
	struct actors_row row = {
		.m = m,
		.program = program,
		.metric = metric,
		.nr = measure_size(m, full),
		.per = per,
	};

	row_run_config(SLEY_CONFIG(.workers = m->workers,
				   .stack_kib = ACTORS_STACK_KIB,
				   .stack_cache = ACTORS_STACKS),
		       actors_root, &row);
}

#endif
