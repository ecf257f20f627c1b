/* SPDX-License-Identifier: MIT */
/*
 * os_uring_queue.c - src/os/uring_queue.h: a taker gets each completion of the kernel
 * once and whole, and the kernel overwrites no completion that is being read.
 *
 * The kernel is a model thread, with the orders that io_uring(7) promises: it writes a
 * completion before the tail, and writes over a completion after it has found the head
 * beyond it.  The queue has room for one completion.
 *
 * Complete for one taker and two completions; and for two takers, one after the other,
 * who hand the queue over as the owner of the queue has to see to.  The queue of
 * entries is not modelled: the kernel reads it in a system call of the pusher.
 */
#include "explorer.h"

#include "os/uring_queue.h"

#include <string.h>

#define NR 2 /* completions; each has its number as mark */

static struct io_uring_cqe completion;
static uint32_t head, tail;
static uint32_t turn; /* of the takers */
static const struct uring_queue queue = {
	.cq_head = &head,
	.cq_tail = &tail,
	.cq_mask = 0,
	.completions = &completion,
};

static void setup(void)
{
	memset(&completion, 0, sizeof(completion));
	head = tail = turn = 0;
	model_name(&head, "head");
	model_name(&tail, "tail");
	model_name(&turn, "turn");
}

static void kernel(int id)
{
	(void)id;
	for (uint32_t i = 0; i < NR; i++) {
		while (load_acquire(&head) != i)
			spin_hint(&head);
		completion.user_data = i;
		completion.res = (int)i + 1;
		store_release(&tail, i + 1);
	}
}

static void take(uint32_t i)
{
	struct io_uring_cqe got;

	while (!uring_queue_take(&queue, &got))
		spin_hint(&tail);
	MODEL_CHECK(got.user_data == i && got.res == (int)i + 1);
}

static void taker(int id)
{
	(void)id;
	for (uint32_t i = 0; i < NR; i++)
		take(i);
}

static void first_taker(int id)
{
	(void)id;
	take(0);
	store_release(&turn, 1);
}

static void second_taker(int id)
{
	(void)id;
	while (!load_acquire(&turn))
		spin_hint(&turn);
	take(1);
}

static void all_is_taken(void)
{
	MODEL_CHECK(head == NR && tail == NR && !uring_queue_has(&queue));
}

MODEL(a_taker_gets_each_completion, .setup = setup,
      .threads = { kernel, taker }, .finish = all_is_taken);

MODEL(two_takers_get_one_each, .setup = setup,
      .threads = { kernel, first_taker, second_taker }, .finish = all_is_taken);
