/* SPDX-License-Identifier: MIT */
/*
 * 22_actor_counter.c - an actor owns a number; callers send amounts to add.
 *
 * Only the actor can touch the number, so the number needs no lock.  A call is a
 * message with an answer: the call arrives after all earlier messages of the caller.
 * The actor is joinable: in the end main asks the actor to end, and waits.
 *
 *   cc 22_actor_counter.c $(pkg-config --cflags --libs sley)
 */
#include <sley/sley.h>
#include <stdio.h>

#define NR 1000

enum { ADD, GET };

static int counter(void *arg)
{
	struct sley_msg *msg;
	long sum = 0;

	(void)arg;
	while (sley_receive(&msg) == 0) {
		if (msg->tag == ADD)
			sum += *(const long *)msg->data;
		else
			sley_reply(msg, GET, &sum, sizeof(sum));
	}
	return 0; /* asked to end */
}

int main(void)
{
	struct sley_process_end end;
	struct sley_msg *reply;
	struct sley *rt;
	long sum = 0;
	sley_pid pid;

	if (sley_create(&rt, NULL) || sley_bind(rt))
		return 1;
	if (sley_actor_spawn(&pid, counter, NULL,
			     SLEY_PROCESS_OPTIONS(.joinable = true)))
		return 1;
	for (long i = 1; i <= NR; i++)
		sley_send(pid, ADD, &i, sizeof(i));
	if (sley_call(pid, GET, NULL, 0, &reply) == 0) {
		sum = *(const long *)reply->data;
		sley_msg_free(reply);
	}
	sley_process_cancel(pid, 0);
	if (sley_process_wait(pid, &end))
		return 1;
	printf("the sum is %ld; it ended: %s\n", sum,
	       sley_strerror(end.reason));
	sley_unbind(rt);
	return sley_destroy(rt) != 0 || sum != NR * (NR + 1) / 2;
}
