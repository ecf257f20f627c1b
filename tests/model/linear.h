/* SPDX-License-Identifier: MIT */
/*
 * linear.h - is there an order of whole operations that explains all return values?
 *
 * A model records each operation on its object, from call to return:
 *
 *	struct linear_op *op = linear_call(PUSH, 1);
 *	linear_return(op, ring_push(&ring, &items[1]));
 *
 * with linear_start() in setup, and linear_check() in finish.  linear_check()
 * searches for an order of all operations in which each operation returns its
 * recorded value by the sequential specification, and which keeps the order of
 * operations that did not overlap (Wing, Gong: Testing and verifying concurrent
 * objects, 1993).
 *
 * Which operations did not overlap?  Of all executions that differ only in the
 * order of independent steps, the explorer runs one.  The order of ends by the wall
 * clock is an accident of this execution, so a search by the wall clock would not be
 * complete.  Two orders are the same in all equivalent executions:
 *
 *   LINEAR_CAUSAL     A is before B if both are of one thread, or if A's last
 *                     step happened before B's first step by the explorer's
 *                     clocks: a chain of dependent steps leads from A to B.
 *                     All other operations count as overlapping.  Threads can
 *                     know no other order without a clock or an object in
 *                     between.  This order costs nothing: recording is no step.
 *   LINEAR_REAL_TIME  Each call and each return is a step as well, a
 *                     read-modify-write of one word that all threads share, as
 *                     if each thread told all others.  Every order of returns
 *                     and calls is explored, and each is kept: linearizability
 *                     as defined.  This order costs executions.  And stores do
 *                     not wait in a buffer beyond the return, so bugs between
 *                     two operations of one thread may be hidden in TSO.
 *
 * So check an object with both orders.  With release/acquire histories "happened
 * before" by the explorer's clocks would be too strong, since a load may return a
 * value that was overwritten before; there LINEAR_CAUSAL keeps the order of each
 * thread only.
 *
 * All operations must have returned when finish runs.  There may be LINEAR_OPS
 * operations; the search is exponential in the number that overlap.
 */
#ifndef SLEY_TESTS_MODEL_LINEAR_H
#define SLEY_TESTS_MODEL_LINEAR_H

#include "explorer.h"

#define LINEAR_OPS 16
#define LINEAR_STATE 64

enum linear_order { LINEAR_CAUSAL, LINEAR_REAL_TIME };

struct linear_op {
	int code;
	int64_t arg;
	int64_t result; /* may be completed after linear_return() */
	/* The rest is private. */
	int thread;
	int first_index; /* the first step, among the thread's */
	int first, last; /* steps of the execution, or -1 */
	uint32_t called_at, returned_at; /* real time */
	bool returned;
};

struct linear_spec {
	const char *const *names;  /* of the codes */
	size_t state_size;         /* at most LINEAR_STATE */
	void (*init)(void *state); /* of zeroed @state; NULL: stays zero */
	/* May @op return its result in this state?  Moves the state on. */
	bool (*apply)(void *state, const struct linear_op *op);
};

void linear_start(enum linear_order order);
struct linear_op *linear_call(int code, int64_t arg);
void linear_return(struct linear_op *op, int64_t result);

/* Fails with MODEL_ASSERTION if no order explains the history. */
void linear_check(const struct linear_spec *spec);

#endif
