/* SPDX-License-Identifier: MIT */
/*
 * graph_records.h - nodes that are written down, for graph_million.c: what they do,
 * and all the ways in which they are submitted.
 */
#ifndef SLEY_TESTS_STRESS_GRAPH_RECORDS_H
#define SLEY_TESTS_STRESS_GRAPH_RECORDS_H

#include "stress/stress.h"

#include <sley/graph_scope.h>

#define NR_RECORDS 20000
#define NR_EPISODE 64 /* records of one */

enum state { NEW, REFUSED, SUBMITTED };
enum course { NOT_RUN, RUNNING, WELL, FAILED };

struct record {
	atomic_int state;
	atomic_int how;
	atomic_int nr_runs;
	bool heard; /* its outcome was looked at */
	sley_node id;
	uint32_t gang;
	unsigned char *buffer; /* or NULL */
	uint32_t size;
	bool writes; /* to it, or looks what one before has written */
	struct episode *episode;
};

#define NOT_YET -2
#define NOBODY -1

/* A scope or a run, of who opened it. */
struct episode {
	struct sley_graph_scope *scope;
	bool left; /* closed, and not waited for: its nodes add none to it */
	atomic_int nr;
	atomic_int record[NR_EPISODE];
};

/* The record of a round, so many of them: what has failed keeps its place. */
extern struct record records[NR_RECORDS];
extern int nr_round;
extern atomic_int nr_records; /* begun */

extern struct sley_graph *the_graph;
extern char cells[512]; /* that nodes read and write */

extern struct books {
	atomic_llong submitted, well, failed, skipped, refused, buffers, faults;
} books;

#define COUNT(what) atomic_fetch_add(&books.what, 1)

/* Memory for graphs is missing now and then, where the build can do that. */
void records_begin_faults(void);
void records_end_faults(void);

/* Meanwhile it is not. */
extern atomic_int nr_careful;

/* Nodes of the round that were submitted lately. */
uint32_t choose_edges(sley_node *ids, uint32_t max);

/* One node, to the scope of @episode or to the graph (NULL); or no more. */
void submit_any(struct episode *episode);

/* A buffer, one that writes to it and one that looks. */
void pass_buffer(struct episode *episode);

#endif
