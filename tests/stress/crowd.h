/* SPDX-License-Identifier: MIT */
/*
 * crowd.h - the shape of most stress programs: tasks and plain threads that do
 * the same again and again, and somebody who cancels tasks among them.
 *
 * Plain threads cannot be cancelled, so some are always left.
 */
#ifndef SLEY_TESTS_STRESS_CROWD_H
#define SLEY_TESTS_STRESS_CROWD_H

#include <stdatomic.h>

#include "stress/stress.h"

#define CROWD_MAX 24

struct crowd;

struct crowd_member {
	struct crowd *crowd;
	unsigned int index;
	struct sley_task task;
	pthread_t thread;
};

struct crowd {
	/*
	 * One operation: 0, -ETIMEDOUT or -EAGAIN; -EPIPE ends this member,
	 * and so does -ECANCELED, which only a cancelled task may have.
	 */
	int (*act)(void *scene, unsigned int index);
	void *scene;
	unsigned int nr_tasks;   /* the first of all indices       */
	unsigned int nr_threads; /* those above                    */
	unsigned int rounds;     /* of each; 0: until -EPIPE       */
	bool cancels;            /* now and then one of the tasks  */

	/* private */
	struct sley_group group;
	struct crowd_member members[CROWD_MAX];
	pthread_t canceller;
	atomic_bool over;
	atomic_uint_least64_t nr_done;
};

void crowd_begin(struct crowd *crowd);

/* Waits until all have ended; may be begun again then. */
void crowd_end(struct crowd *crowd);

static inline void crowd_run(struct crowd *crowd)
{
	crowd_begin(crowd);
	crowd_end(crowd);
}

#endif
