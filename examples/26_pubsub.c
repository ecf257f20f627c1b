/* SPDX-License-Identifier: MIT */
/*
 * 26_pubsub.c - a ticker publishes prices to all processes that have joined.
 *
 *   cc 26_pubsub.c $(pkg-config --cflags --libs sley)
 */
#include <sley/sley.h>
#include <stdio.h>

enum { PRICE = 1, CLOSED, READERS = 3 };
static int reader(void *arg)
{
	struct sley_msg *msg;
	int *sum = arg;

	while (sley_receive(&msg) == 0 && msg->tag == PRICE)
		*sum += *(const int *)msg->data;
	return 0;
}

/* Sends itself a message every millisecond. */
static int ticker(void *arg)
{
	struct sley_msg *msg;
	sley_post tick;

	(void)arg;
	if (sley_post_every(sley_self(), 0, NULL, 0, SLEY_MSEC, &tick))
		return -1;
	for (int price = 1; price <= 5 && !sley_receive(&msg); price++)
		printf("%d: %d readers\n", price,
		       sley_topic_publish("prices", PRICE, &price,
					  sizeof(price)));
	sley_post_cancel(tick);
	sley_topic_publish("prices", CLOSED, NULL, 0);
	return 0;
}

static void root(void *arg)
{
	int *sum = arg;
	sley_pid pid;

	for (int i = 0; i < READERS; i++) {
		if (sley_actor_spawn(&pid, reader, &sum[i], NULL) ||
		    sley_topic_join("prices", pid))
			return;
	}
	if (sley_actor_spawn(&pid, ticker, NULL, NULL))
		return;
	while (sley_process_count())
		sley_sleep(SLEY_MSEC);
}

int main(void)
{
	int sum[READERS] = { 0 };

	return sley_run(NULL, root, sum) || sum[0] != 15 || sum[2] != 15;
}
