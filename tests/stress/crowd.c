/* SPDX-License-Identifier: MIT */
/*
 * crowd.c - see crowd.h.
 */
#include "stress/crowd.h"

static void take_part(void *arg)
{
	struct crowd_member *member = arg;
	struct crowd *crowd = member->crowd;
	uint64_t nr = 0;

	while (!crowd->rounds || nr < crowd->rounds) {
		int err = crowd->act(crowd->scene, member->index);

		nr++;
		if (err == -EPIPE)
			break;
		if (err == -ECANCELED) {
			CHECK(sley_cancelled());
			break;
		}
		CHECK(err == 0 || err == -ETIMEDOUT || err == -EAGAIN);
	}
	atomic_fetch_add(&crowd->nr_done, nr);
}

static void *take_part_in_thread(void *arg)
{
	take_part(arg);
	return NULL;
}

static void *cancel_some(void *arg)
{
	struct crowd *crowd = arg;

	while (!atomic_load(&crowd->over)) {
		test_nap_ms(2);
		sley_cancel(&crowd->members[test_random(crowd->nr_tasks)].task);
	}
	return NULL;
}

void crowd_begin(struct crowd *crowd)
{
	unsigned int nr = crowd->nr_tasks + crowd->nr_threads;

	CHECK_LE(nr, CROWD_MAX);
	crowd->group = (struct sley_group)SLEY_GROUP_INIT;
	atomic_store(&crowd->over, false);
	for (unsigned int i = 0; i < nr; i++) {
		struct crowd_member *member = &crowd->members[i];

		member->crowd = crowd;
		member->index = i;
		if (i < crowd->nr_tasks)
			sley_spawn(&crowd->group, &member->task, take_part,
				   member);
		else
			member->thread =
				test_thread(take_part_in_thread, member);
	}
	if (crowd->cancels)
		crowd->canceller = test_thread(cancel_some, crowd);
}

void crowd_end(struct crowd *crowd)
{
	for (unsigned int i = 0; i < crowd->nr_threads; i++)
		pthread_join(crowd->members[crowd->nr_tasks + i].thread, NULL);
	sley_join(&crowd->group);
	if (crowd->cancels) {
		atomic_store(&crowd->over, true);
		pthread_join(crowd->canceller, NULL);
	}
	test_count(atomic_exchange(&crowd->nr_done, 0));
}
