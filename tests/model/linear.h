/* SPDX-License-Identifier: MIT */
/*
 * linear.h - is there an order of whole operations that explains what each of
 * them returned?
 *
 * A model writes down each operation on its object, from call to return:
 *
 *	struct linear_op *op = linear_call(PUSH, 1);
 *	linear_return(op, ring_push(&ring, &items[1]));
 *
 * with linear_start() in setup, and linear_check() in finish.  That searches
 * for an order of all operations in which each returns what it did return by
 * the sequential specification, and which keeps the order of those that did
 * not overlap (Wing, Gong: Testing and verifying concurrent objects, 1993).
 *
 * Which did not overlap?  The explorer runs one of all executions that differ
 * only in the order of steps that do not see each other.  What was over first
 * by the clock on the wall is an accident of the one it runs, so a search that
 * went by it would not be complete, whatever it says.  There are two orders
 * that are the same in all of them:
 *
 *   LINEAR_CAUSAL     A is before B if they are of one thread, or if A's last
 *                     step happened before B's first one by the explorer's
 *                     clocks: a chain of steps that depend on each other leads
 *                     from one to the other.  Others count as overlapping.
 *                     That is all the order threads can know of without a
 *                     clock or another object between them.  It costs nothing:
 *                     writing down is no step.
 *   LINEAR_REAL_TIME  Each call and each return is a step as well, a
 *                     read-modify-write of one word that all have in common:
 *                     as if everybody told everybody.  Every order of returns
 *                     and calls is explored, and each is kept: linearizability
 *                     as it is defined.  It costs executions.  And stores do
 *                     not wait in a buffer beyond the return, so bugs between
 *                     two operations of one thread may be hidden in TSO.
 *
 * So an object wants to be checked with both.  With release/acquire histories
 * "happened before" by the explorer's clocks would be too strong, for a load
 * may return what was overwritten before; there LINEAR_CAUSAL keeps the order
 * of each thread only.
 *
 * All operations must have returned when finish runs.  Up to LINEAR_OPS of
 * them; the search is exponential in those that overlap.
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
	int first_index; /* its first step, among its thread's */
	int first, last; /* steps of the execution, or -1 */
	uint32_t called_at, returned_at; /* real time */
	bool returned;
};

struct linear_spec {
	const char *const *names;  /* of the codes */
	size_t state_size;         /* at most LINEAR_STATE */
	void (*init)(void *state); /* it is zero before; NULL: so it stays */
	/* May @op return what it did, in this state?  Moves the state on. */
	bool (*apply)(void *state, const struct linear_op *op);
};

void linear_start(enum linear_order order);
struct linear_op *linear_call(int code, int64_t arg);
void linear_return(struct linear_op *op, int64_t result);

/* Fails with MODEL_ASSERTION if no order explains the history. */
void linear_check(const struct linear_spec *spec);

#endif
