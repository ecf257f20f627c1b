/* SPDX-License-Identifier: MIT */
/*
 * descriptors.c - a worker that sleeps for descriptors, in io_uring and in epoll.
 */
#include "fault/sweep.h"

#include "core/sched/poller.h"
#include "os/eventfd.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

static atomic_int nr_ran;

static void count(void *arg)
{
	(void)arg;
	atomic_fetch_add(&nr_ran, 1);
}

/* A worker wakes up for the descriptor, and for a task. */
static void use_descriptor(struct sley *rt, int fd)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	os_eventfd_signal(fd);
	/* relaxed: only whether it changes. */
	CHECK_EVENTUALLY(load_relaxed(&rt->poller.nr_readable) > 0);
	os_eventfd_clear(fd);
	test_nap_ms(2);
	if (TRY(sley_spawn_on(rt, &group, &task, count, NULL, NULL), -ENOMEM))
		sley_join(&group);
}

static void watch_descriptor(bool no_io_uring)
{
	struct sley_config config = trial_config(1);
	struct sley *rt;
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	CHECK_GE(fd, 0);
	config.no_io_uring = no_io_uring;
	rt = trial_create(&config);
	if (rt) {
		trial_mark();
		if (TRY(poller_watch(rt, fd), -EMFILE, -ENOMEM, -ENOSPC)) {
			use_descriptor(rt, fd);
			poller_unwatch(rt, fd);
		}
		trial_stop(rt);
	}
	close(fd);
}

SCENARIO(descriptors_in_io_uring)
{
	watch_descriptor(false);
}

SCENARIO(descriptors_in_epoll)
{
	watch_descriptor(true);
}
