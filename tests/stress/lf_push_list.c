/* SPDX-License-Identifier: MIT */
/*
 * lf_push_list.c - four pushers and two takers: nothing is lost, each pusher's
 * order is kept, and exactly one push reports each empty list it ended.
 */
#include "harness/test.h"

#include "base/atomic.h"
#include "base/compiler.h"
#include "lf/push_list.h"
#include "os/thread.h"

#include <stdlib.h>

#define NR_NODES 2000000
#define NR_PUSHERS 4
#define NR_TAKERS 2

struct item {
	struct push_node node;
	uint32_t pusher, number; /* plain: the list must publish them */
	uint32_t nr_taken;       /* plain: one taker only             */
};

static struct push_list list;
static struct item *items[NR_PUSHERS];
static uint32_t nr_each;
static uint32_t nr_pushing = NR_PUSHERS;
static uint64_t nr_found_empty, nr_takes;

static void *push(void *arg)
{
	uint32_t pusher = (uint32_t)(uintptr_t)arg;
	uint64_t nr_empty = 0;

	for (uint32_t i = 0; i < nr_each; i++) {
		struct item *item = &items[pusher][i];

		item->pusher = pusher;
		item->number = i;
		nr_empty += push_list_push(&list, &item->node);
	}
	/* relaxed: a count; the threads are joined before it is read. */
	add_relaxed(&nr_found_empty, nr_empty);
	sub_release(&nr_pushing, 1);
	return NULL;
}

static void *take(void *arg)
{
	int64_t last[NR_PUSHERS];
	uint64_t nr = 0;

	for (int i = 0; i < NR_PUSHERS; i++)
		last[i] = -1;
	for (;;) {
		bool were_done = load_acquire(&nr_pushing) == 0;
		struct push_node *chain = push_list_take_all(&list);

		if (!chain && were_done)
			break;
		nr += chain != NULL;
		for (; chain; chain = chain->next) {
			struct item *item =
				container_of(chain, struct item, node);

			CHECK_LT(last[item->pusher], item->number);
			last[item->pusher] = item->number;
			item->nr_taken++;
		}
		os_thread_yield();
	}
	/* relaxed: a count; the threads are joined before it is read. */
	add_relaxed(&nr_takes, nr);
	return arg;
}

TEST(each_node_is_taken_once_and_in_its_pushers_order)
{
	pthread_t thread[NR_PUSHERS + NR_TAKERS];

	nr_each = (uint32_t)test_scale(NR_NODES) / NR_PUSHERS;
	for (int i = 0; i < NR_PUSHERS; i++)
		items[i] = calloc(nr_each, sizeof(struct item));
	for (int i = 0; i < NR_TAKERS; i++)
		thread[NR_PUSHERS + i] = test_thread(take, NULL);
	for (int i = 0; i < NR_PUSHERS; i++)
		thread[i] = test_thread(push, (void *)(uintptr_t)i);
	for (int i = 0; i < NR_PUSHERS + NR_TAKERS; i++)
		pthread_join(thread[i], NULL);
	for (int p = 0; p < NR_PUSHERS; p++) {
		for (uint32_t i = 0; i < nr_each; i++)
			CHECK_EQ(items[p][i].nr_taken, 1);
		free(items[p]);
	}
	CHECK_EQ(nr_found_empty, nr_takes);
	test_count((uint64_t)nr_each * NR_PUSHERS);
}
