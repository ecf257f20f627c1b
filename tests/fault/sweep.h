/* SPDX-License-Identifier: MIT */
/*
 * sweep.h - each call that can fail, fails: once, and from then on for ever.
 *
 * A scenario is a piece of a program that uses one part of the library.  It
 * runs again and again, each time in a process of its own (a *trial*), and each
 * time another call below it fails:
 *
 *   nth     the n-th call of all that can fail, n = 1, 2, ..., until the
 *           scenario ends before n was reached
 *   site    for each site (src/os/fault.h) that the scenario reaches, its k-th
 *           call, with each of its errors; so that no site is missed where
 *           threads make the order differ from run to run
 *
 * both "once" and "for ever" (this call and all that follow).  What a trial must
 * not do: crash, hang (for two seconds, and for twenty with no other trial beside
 * it), leave memory, mappings, threads or descriptors, lose a task that was
 * accepted, fail with another error than the one that happened, fail where
 * nothing failed.
 *
 *   SCENARIO(channels)
 *   {
 *           if (!TRY(sley_chan_create(&chan, 8, 4), -ENOMEM))
 *                   return;
 *
 * TRY() makes a call that may fail with the errors behind it.  If it does, it is
 * made again: what failed once must work the second time.  A scenario must clean
 * up and return when a TRY() is false.
 *
 * Some failures are not reported by design; tolerated.c lists their sites with
 * the reason.  All others must be.
 *
 * If there is no memory for stacks, tasks wait until there is some.  Where that
 * takes for ever nothing else can be done, but it must be said: when the runtime
 * reports it, what fails for ever stops failing, and the scenario must come to
 * its end.
 */
#ifndef SLEY_TESTS_FAULT_SWEEP_H
#define SLEY_TESTS_FAULT_SWEEP_H

#include "harness/test.h"

#include "os/fault.h"

#include <sley/sley.h>

void sweep(const char *name, void (*body)(void));

#define SCENARIO(name)                                                         \
	static void scenario_##name(void);                                     \
	TEST(name)                                                             \
	{                                                                      \
		sweep(#name, scenario_##name);                                 \
	}                                                                      \
	static void scenario_##name(void)

#define TRY(call, ...)                                                         \
	__extension__({                                                        \
		static const int try_errors_[] = { __VA_ARGS__, 0 };           \
		int try_result_ = (call);                                      \
		if (trial_failed(TEST_PLACE(#call), try_result_,               \
				 try_errors_)) {                               \
			try_result_ = (call);                                  \
			trial_again(TEST_PLACE(#call), try_result_,            \
				    try_errors_);                              \
		}                                                              \
		try_result_ >= 0;                                              \
	})

/* Did a call fail?  Only with a reason, and with the right error. */
bool trial_failed(const struct test_place *place, int result,
		  const int *errors);
/* The same call once more. */
void trial_again(const struct test_place *place, int result, const int *errors);

/* Have calls been made to fail in this trial? */
bool trial_struck(void);

/* Has a line been reported?  It may be about this failure, or an earlier one. */
bool trial_was_told(void);

/* The start is over, which other scenarios sweep: a sample begins here. */
void trial_mark(void);
/* Do calls go on failing for ever that the library cannot do without? */
bool trial_may_give_up(void);
/*
 * In this scenario a failure of @call is reported, or the library has another way;
 * tolerated.c is for what holds in all scenarios.
 */
void trial_may_absorb(const char *call);
/* Is it "make prove"? */
bool trial_is_full(void);

/* Of the fixture, with @workers, and reports that the trial looks at. */
struct sley_config trial_config(int workers);
/* A runtime; NULL: it could not be created, and said why. */
struct sley *trial_create(const struct sley_config *config);
struct sley *trial_start(int workers);
/* Waits for its tasks. */
void trial_stop(struct sley *rt);
/* @scene as a task of a runtime with two workers; its start is not swept. */
void trial_play(sley_fn *scene);
/* The same with another configuration. */
void trial_play_with(const struct sley_config *config, sley_fn *scene);

/* A line about what failed, where there is no call to return it. */
void trial_note_report(void *self, const char *line);

#endif
