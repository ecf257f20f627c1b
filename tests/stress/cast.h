/* SPDX-License-Identifier: MIT */
/*
 * cast.h - processes that a test starts, stops, kills and counts.
 *
 * The test itself is the *stage*: it has no threads and no runtime, so that it can fork.
 * A process that it starts ends with the stage.
 */
#ifndef SLEY_TESTS_STRESS_CAST_H
#define SLEY_TESTS_STRESS_CAST_H

#include "harness/test.h"

#include <signal.h>
#include <sys/types.h>

/* A child of the stage: it runs @fn, and has ended well if that returns. */
pid_t cast_fork(void (*fn)(void *arg), void *arg);

/* @pid has ended: of @signal_number, or, if that is 0, well. */
void cast_reap(pid_t pid, int signal_number);
void cast_kill(pid_t pid);

/* No thread of @pid runs when this returns; until SIGCONT. */
void cast_stop(pid_t pid);

/* A nap of up to @us, by chance. */
void cast_nap(uint32_t us);

/* Memory that all processes of the stage share, all zero. */
void *cast_share(size_t size);

/*
 * How often: number @which of those that the variable @name of the environment has, one
 * behind the other; without the variable @usual.
 */
uint32_t cast_how_often(const char *name, uint32_t which, uint32_t usual);

/* Sorts @times_ns, and returns the one that @percent of them do not exceed. */
uint64_t cast_percentile(uint64_t *times_ns, size_t nr, uint32_t percent);

#endif
