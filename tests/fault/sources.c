/* SPDX-License-Identifier: MIT */
/*
 * sources.c - sources of work, with a descriptor and without: an item of a source is
 * taken, whatever has failed before.
 */
#include "fault/sweep.h"

#include "os/eventfd.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { NR_ITEMS = 3 };

static struct items {
	int fd;          /* 0: none */
	atomic_int nr;   /* not taken */
	int nr_accepted; /* tasks for the items; by one taker at a time */
	atomic_int nr_ran;
} items;

static void run_item(void *arg)
{
	(void)arg;
	atomic_fetch_add(&items.nr_ran, 1);
}

static bool has_items(void *arg)
{
	(void)arg;
	return atomic_load(&items.nr) > 0;
}

/* One item at a time: a task that was accepted must run. */
static bool take_item(void *arg)
{
	if (items.fd)
		os_eventfd_clear(items.fd);
	if (!has_items(arg))
		return false;
	items.nr_accepted += TRY(sley_schedule(run_item, NULL), -ENOMEM);
	return atomic_fetch_sub(&items.nr, 1) > 1;
}

/* Lets the worker fall asleep now and then. */
static void deliver(struct sley_source *source)
{
	for (int i = 0; i < NR_ITEMS; i++) {
		atomic_fetch_add(&items.nr, 1);
		if (items.fd)
			os_eventfd_signal(items.fd);
		else
			CHECK_EQ(sley_source_notify(source), 0);
		if (i)
			CHECK_EVENTUALLY(!has_items(NULL));
		test_nap_ms(i);
	}
}

static bool has_nothing(void *arg)
{
	(void)arg;
	return false;
}

/* A creation that failed has left no trace: there is room for all others. */
static void fill_places(struct sley *rt, int nr_used)
{
	const struct sley_source_options options = { .size = sizeof(options),
						     .take = has_nothing,
						     .has = has_nothing };
	struct sley_source *other[SLEY_SOURCES_MAX];

	for (int i = nr_used; i < SLEY_SOURCES_MAX; i++)
		CHECK_EQ(sley_source_create(rt, &other[i], &options, NULL), 0);
	for (int i = nr_used; i < SLEY_SOURCES_MAX; i++)
		sley_source_destroy(other[i]);
}

static void use_source(struct sley *rt)
{
	const struct sley_source_options options = {
		.size = sizeof(options),
		.fd = items.fd,
		.take = take_item,
		.has = items.fd ? NULL : has_items,
	};
	struct sley_source *source = NULL;

	if (!TRY(sley_source_create(rt, &source, &options, NULL), -EMFILE,
		 -ENOMEM, -ENOSPC)) {
		fill_places(rt, 0);
		return;
	}
	fill_places(rt, 1);
	deliver(source);
	sley_source_destroy(source);
	CHECK(!has_items(NULL));
}

static void play(const struct sley_config *config, int fd)
{
	struct sley *rt = trial_create(config);

	items = (struct items){ .fd = fd };
	if (rt) {
		trial_mark();
		use_source(rt);
		trial_stop(rt);
	}
	CHECK_EQ(atomic_load(&items.nr_ran), items.nr_accepted);
}

static void play_with_descriptor(bool no_io_uring)
{
	struct sley_config config = trial_config(1);
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	CHECK_GT(fd, 0);
	config.no_io_uring = no_io_uring;
	play(&config, fd);
	close(fd);
}

SCENARIO(sources_in_io_uring)
{
	play_with_descriptor(false);
}

SCENARIO(sources_in_epoll)
{
	play_with_descriptor(true);
}

SCENARIO(sources_without_descriptor)
{
	struct sley_config config = trial_config(2);

	play(&config, 0);
}
