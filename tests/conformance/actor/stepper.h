/* SPDX-License-Identifier: MIT */
/*
 * stepper.h - step processes for tests: the step is a function of the test, which
 * sees what the test sees, and the test can wait for the end.
 */
#ifndef SLEY_TESTS_CONFORMANCE_ACTOR_STEPPER_H
#define SLEY_TESTS_CONFORMANCE_ACTOR_STEPPER_H

#include "conformance/bound.h"

struct stepper;

typedef enum sley_step stepper_fn(struct stepper *stepper,
				  struct sley_msg *const *msg, size_t nr,
				  struct sley_out *out);

/* Lives in the frame of the test. */
struct stepper {
	stepper_fn *step;
	void *arg;
	sley_pid pid;
	int steps;  /* so far, this one included */
	int value;  /* the step's own            */
	int reason; /* of its end                */
	struct sley_event ended;
};

static inline int stepper_init(void *self, const char *method,
			       const void *input, size_t size)
{
	(void)method;
	(void)size;
	*(struct stepper **)self = *(struct stepper *const *)input;
	return 0;
}

static inline enum sley_step stepper_step(void *self,
					  struct sley_msg *const *msg,
					  size_t nr, struct sley_out *out)
{
	struct stepper *stepper = *(struct stepper **)self;

	stepper->steps++;
	stepper->pid = sley_self();
	return stepper->step(stepper, msg, nr, out);
}

static inline void stepper_close(void *self, int reason)
{
	struct stepper *stepper = *(struct stepper **)self;

	stepper->reason = reason;
	sley_event_set(&stepper->ended);
}

static const struct sley_behaviour stepper_behaviour = {
	.name = "stepper",
	.size = sizeof(struct stepper *),
	.init = stepper_init,
	.step = stepper_step,
	.close = stepper_close,
};

static inline sley_pid stepper_spawn(struct stepper *stepper)
{
	sley_pid pid;

	CHECK_EQ(sley_process_spawn(&pid, &stepper_behaviour, &stepper,
				    sizeof(stepper), NULL),
		 0);
	return pid;
}

/* Until it has ended.  Returns why. */
static inline int stepper_join(struct stepper *stepper)
{
	CHECK_EQ(sley_event_wait_until(&stepper->ended, in_ms(60000)), 0);
	return stepper->reason;
}

/* From spawn to end; for those that end by themselves. */
static inline int stepper_run(struct stepper *stepper)
{
	(void)stepper_spawn(stepper);
	return stepper_join(stepper);
}

#endif
