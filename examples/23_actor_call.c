/* SPDX-License-Identifier: MIT */
/*
 * 23_actor_call.c - ask an actor, and wait for the answer; but not too long.
 *
 *   cc 23_actor_call.c $(pkg-config --cflags --libs sley)
 */
#include <errno.h>
#include <sley/sley.h>
#include <stdio.h>

enum { DEPOSIT, BALANCE, THINK };

/* Only this actor touches the balance: there is no lock. */
static int account(void *arg)
{
	struct sley_msg *msg;
	long balance = 0;

	(void)arg;
	while (sley_receive(&msg) == 0) {
		if (msg->tag == DEPOSIT)
			balance += *(const long *)msg->data;
		else if (msg->tag == BALANCE)
			sley_reply(msg, BALANCE, &balance, sizeof(balance));
	}
	return 0;
}

static void root(void *arg)
{
	struct sley_msg *reply;
	bool *ok = arg;
	long amount = 14;
	sley_pid pid;

	if (sley_actor_spawn(&pid, account, NULL, NULL))
		return;
	for (int i = 0; i < 3; i++)
		sley_send(pid, DEPOSIT, &amount, sizeof(amount));
	/* Messages that were sent before arrive before. */
	if (sley_call(pid, BALANCE, NULL, 0, &reply))
		return;
	printf("balance: %ld\n", *(const long *)reply->data);
	*ok = *(const long *)reply->data == 42;
	sley_msg_free(reply);
	/* The account never answers THINK. */
	if (sley_call_until(pid, THINK, NULL, 0, NULL,
			    sley_after(5 * SLEY_MSEC)) != -ETIMEDOUT)
		*ok = false;
	sley_process_kill(pid);
}

int main(void)
{
	bool ok = false;

	return sley_run(NULL, root, &ok) != 0 || !ok;
}
