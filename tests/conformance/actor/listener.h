/* SPDX-License-Identifier: MIT */
/*
 * listener.h - a process that receives, and what it has heard.
 */
#ifndef SLEY_TESTS_CONFORMANCE_ACTOR_LISTENER_H
#define SLEY_TESTS_CONFORMANCE_ACTOR_LISTENER_H

#include "conformance/bound.h"

#define TAG_END UINT64_MAX /* the listener ends, for 0 */

struct listener {
	sley_pid pid;
	_Atomic uint64_t nr;        /* messages, but TAG_END         */
	_Atomic uint64_t sum;       /* of their tags                 */
	_Atomic uint64_t last;      /* tag                           */
	_Atomic uint64_t when;      /* the last one came             */
	_Atomic sley_pid from;      /* who sent that                 */
	_Atomic(const void *) data; /* of that                  */
	_Atomic uint64_t bytes;     /* sum of all bytes of that     */
};

static inline void listener_hear(struct listener *listener,
				 const struct sley_msg *msg)
{
	const unsigned char *data = msg->data;
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < msg->size; i++)
		bytes += data[i];
	listener->when = sley_now();
	listener->from = msg->from;
	listener->data = data;
	listener->bytes = bytes;
	listener->last = msg->tag;
	listener->sum += msg->tag;
	listener->nr++;
}

static inline int listener_actor(void *arg)
{
	struct sley_msg *msg;
	int err;

	while (!(err = sley_receive(&msg)) && msg->tag != TAG_END)
		listener_hear(arg, msg);
	return err;
}

struct listener_self {
	struct listener *listener;
};

static inline int listener_init(void *self, const char *method,
				const void *input, size_t size)
{
	(void)method;
	CHECK_EQ(size, sizeof(struct listener_self));
	memcpy(self, input, size);
	return 0;
}

static inline enum sley_step listener_step(void *self,
					   struct sley_msg *const *msg,
					   size_t nr, struct sley_out *out)
{
	struct listener_self *me = self;

	for (size_t i = 0; i < nr; i++) {
		if (msg[i]->tag == TAG_END)
			return sley_out_done(out, 0);
		listener_hear(me->listener, msg[i]);
	}
	return SLEY_WAIT;
}

static const struct sley_behaviour listener_behaviour = {
	.name = "listener",
	.size = sizeof(struct listener_self),
	.init = listener_init,
	.step = listener_step,
};

/* Every second one is an actor, the others are step processes. */
static inline sley_pid listen(struct listener *listener)
{
	static _Atomic unsigned int nr;
	const struct listener_self self = { listener };

	*listener = (struct listener){ 0 };
	if (nr++ % 2)
		CHECK_EQ(sley_actor_spawn(&listener->pid, listener_actor,
					  listener, NULL),
			 0);
	else
		CHECK_EQ(sley_process_spawn(&listener->pid, &listener_behaviour,
					    &self, sizeof(self), NULL),
			 0);
	return listener->pid;
}

/* For what processes will do; those of this thread can only while it waits. */
static inline void skip_where_nobody_forks(void)
{
	if (test_sanitizer())
		test_skip("sanitizers do not survive fork() with threads");
	if (test_emulated())
		test_skip("qemu-user dies of threads in the forked child");
}

static inline void hush(struct listener *listener)
{
	CHECK_EQ(sley_send(listener->pid, TAG_END, NULL, 0), 0);
	CHECK_SOON(!sley_process_alive(listener->pid));
}

#endif
