/* SPDX-License-Identifier: MIT */
/*
 * tour.h - the stops of the tour.
 *
 * A stop does real work, checks the result, and reports the result in a few words.
 */
#ifndef SLEY_PROGRAM_TOUR_H
#define SLEY_PROGRAM_TOUR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct outcome {
	uint64_t start_ns;
	uint64_t end_ns;
	char result[64];   /* for the table                     */
	char trouble[160]; /* the first error; empty: no error  */
	char notes[1024];  /* more lines of the table, below    */
};

struct stop {
	const char *model;
	const char *did;
	void (*run)(struct outcome *out);
	int workers; /* 0: as many as usual             */
	bool plain;  /* on a plain thread, not in a task */
};

/* The time of the stop is the time between these two calls. */
void outcome_start(struct outcome *out);
void outcome_stop(struct outcome *out);
double outcome_ns(const struct outcome *out);

/* A stop without a result has failed. */
__attribute__((format(printf, 2, 3))) void
outcome_result(struct outcome *out, const char *format, ...);

/* Only the first trouble is kept. */
__attribute__((format(printf, 2, 3))) void
outcome_trouble(struct outcome *out, const char *format, ...);

/* Adds a line below the row of the stop. */
__attribute__((format(printf, 2, 3))) void
outcome_note(struct outcome *out, const char *format, ...);

/* Allocates memory; the program ends if there is no memory. */
void *tour_alloc(size_t nr, size_t size);

/* tour_run.c: which task runs, where, in which order. */
void tour_tasks(struct outcome *out);
void tour_fork_join(struct outcome *out);
void tour_overtake(struct outcome *out);
void tour_stealing(struct outcome *out);
void tour_priorities(struct outcome *out);
void tour_single(struct outcome *out);

/* tour_wait.c: waits, timeouts, cancelling, stopping. */
void tour_blocking(struct outcome *out);
void tour_channels(struct outcome *out);
void tour_mutex(struct outcome *out);
void tour_condition(struct outcome *out);
void tour_timeouts(struct outcome *out);
void tour_cancel(struct outcome *out);
void tour_shutdown(struct outcome *out);

/* tour_meet.c: select, readers and writers, turns, calls that hold a thread. */
void tour_select(struct outcome *out);
void tour_rwlock(struct outcome *out);
void tour_tickets(struct outcome *out);
void tour_calls(struct outcome *out);

/* tour_parallel.c: scopes, loops, sorting, a pipeline. */
void tour_scope(struct outcome *out);
void tour_loops(struct outcome *out);
void tour_sort(struct outcome *out);
void tour_pipeline(struct outcome *out);

/* tour_graph.c: nodes in order, a failing node, plans, subprocesses. */
void tour_graph(struct outcome *out);
void tour_failure(struct outcome *out);
void tour_plan(struct outcome *out);
void tour_subprocesses(struct outcome *out);

/* Call begin before the first thread, and end after the last subprocess. */
void tour_subprocesses_begin(void);
void tour_subprocesses_end(void);

/* tour_pools.c: requests to the containers of a pool. */
void tour_pools(struct outcome *out);

/* tour_daemon.c: a daemon with clients, and what a kill of each does. */
void tour_daemon(struct outcome *out);

/* tour_client.c: one of the clients; runs until its input ends.  0 or an error. */
int tour_be_client(const char *socket);

/* tour_domain.c: an urgent process among busy ones, without a domain and in one. */
void tour_domain(struct outcome *out);

/* tour_member.c: one of these processes.  0 or an error. */
int tour_be_member(const char *role, const char *socket);

#define TOUR_NR_URGENT 25 /* pieces of urgent work */

/* tour_http.c: a page, served and fetched. */
void tour_http(struct outcome *out);

/* tour_actors.c, tour_service.c: processes that send each other messages. */
void tour_actors(struct outcome *out);
void tour_service(struct outcome *out);
void tour_inspect(struct outcome *out);

#endif
