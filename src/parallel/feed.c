/* SPDX-License-Identifier: MIT */
/*
 * feed.c - a pipeline that runs in the background, and gets its items from calls of
 * sley_feed_put().
 *
 * A task runs sley_pipeline_with().  The first stage receives from a channel
 * without a buffer, to which a put sends.  So a put returns when the pipeline has
 * a token for the item, and an item that was not accepted is still the putter's.
 *
 * When the pipeline ends for another reason than a close, the task of the pipeline
 * closes the channel: waiting putters, and later putters, get -EPIPE.  So the task
 * must run, even if the task is cancelled before its start.
 *
 * Rejected: a pipeline that is stepped by its putters.  Each putter would have to
 * run stages, and a plain thread runs no tasks.
 */
#include "base/options.h"
#include "core/life/after_fork.h"
#include "core/task/spawn.h"
#include "parallel/pipeline.h"

#include <sley/chan.h>
#include <sley/error.h>
#include <sley/feed.h>
#include <sley/task.h>

#include <errno.h>
#include <string.h>

struct sley_feed {
	struct sley *rt;
	struct sley_chan *items;
	struct sley_feed_options options;
	struct sley_group group;
	struct sley_task task;
	int result; /* of the pipeline, when the group is empty */
	size_t nr_stages;
	struct sley_stage stages[]; /* the first stage receives */
};

static size_t feed_size(size_t nr_stages)
{
	return sizeof(struct sley_feed) + nr_stages * sizeof(struct sley_stage);
}

/* ---- the pipeline ------------------------------------------------------------ */

static int receive(void **item, void *arg)
{
	const struct sley_feed *feed = arg;
	int err = sley_chan_recv(feed->items, item);

	return err == -EPIPE ? 0 : err;
}

static void drop(void *item, void *arg)
{
	const struct sley_feed *feed = arg;

	if (feed->options.drop)
		feed->options.drop(item, feed->options.drop_arg);
}

static void run(void *arg)
{
	struct sley_feed *feed = arg;

	feed->result = sley_pipeline_with(feed->stages, feed->nr_stages,
					  feed->options.tokens, NULL);
	sley_chan_close(feed->items);
}

static int start(struct sley_feed *feed)
{
	const struct sley_options options = {
		.size = sizeof(options),
		.priority = feed->options.priority,
		.migratable = feed->options.migratable,
	};

	feed->task.fn = run;
	feed->task.arg = feed;
	feed->task.name = "feed";
	return spawn_into_as(feed->rt, &feed->group, &feed->task, &options,
			     TASK_MUST_RUN);
}

/* ---- the calls ----------------------------------------------------------------- */

static void set_up(struct sley_feed *feed, const struct sley_stage *stages,
		   size_t nr)
{
	feed->nr_stages = nr + 1;
	feed->stages[0] = (struct sley_stage){
		.fn = receive,
		.arg = feed,
		.mode = SLEY_STAGE_ORDERED,
		.drop = drop,
	};
	memcpy(&feed->stages[1], stages, nr * sizeof(stages[0]));
}

static void release(struct sley_feed *feed)
{
	sley_chan_destroy(feed->items);
	mem_free(&feed->rt->mem, feed, feed_size(feed->nr_stages));
}

/* Errors that the pipeline would find later, when no caller could be told. */
static int check(const struct sley_stage *stages, size_t nr,
		 const struct sley_feed_options *options)
{
	if (nr == 0 || nr >= SLEY_PIPELINE_STAGES_MAX ||
	    options->tokens > SLEY_PIPELINE_TOKENS_MAX)
		return -EINVAL;
	if (options->reserved_half)
		return -E2BIG;
	if (options->priority < SLEY_PRIORITY_MIN ||
	    options->priority > SLEY_PRIORITY_MAX)
		return SLEY_EPRIORITY;
	for (size_t i = 0; i < nr; i++) {
		if (!pipeline_stage_is_sound(&stages[i]))
			return -EINVAL;
	}
	return 0;
}

int sley_feed_open(struct sley_feed **out, const struct sley_stage *stages,
		   size_t nr, const struct sley_feed_options *given)
{
	struct sley_feed_options options;
	struct sley_feed *feed;
	struct sley *rt;
	int err = options_take(&options, given);

	*out = NULL;
	if (!err)
		err = check(stages, nr, &options);
	if (!err)
		err = runtime_of_caller(&rt);
	if (err)
		return err;
	feed = mem_alloc(&rt->mem, feed_size(nr + 1));
	if (!feed)
		return -ENOMEM;
	feed->rt = rt;
	feed->options = options;
	set_up(feed, stages, nr);
	err = sley_chan_create(&feed->items, sizeof(void *), 0);
	if (!err)
		err = start(feed);
	if (err) {
		release(feed);
		return err;
	}
	*out = feed;
	return 0;
}

int sley_feed_put_until(struct sley_feed *feed, void *item,
			uint64_t deadline_ns)
{
	if (!item)
		return -EINVAL;
	return sley_chan_send_until(feed->items, &item, deadline_ns);
}

int sley_feed_put(struct sley_feed *feed, void *item)
{
	return sley_feed_put_until(feed, item, UINT64_MAX);
}

void sley_feed_cancel(struct sley_feed *feed)
{
	sley_cancel(&feed->task);
}

/* @err: the reason for giving up the feed before, or 0. */
static int finish(struct sley_feed *feed, int err)
{
	if (err)
		sley_feed_cancel(feed);
	sley_join(&feed->group);
	if (!err)
		err = feed->result;
	release(feed);
	return err;
}

int sley_feed_close(struct sley_feed *feed)
{
	if (!feed)
		return 0;
	sley_chan_close(feed->items);
	return finish(feed, 0);
}

int sley_feed_close_until(struct sley_feed *feed, uint64_t deadline_ns)
{
	if (!feed)
		return 0;
	sley_chan_close(feed->items);
	return finish(feed, sley_join_until(&feed->group, deadline_ns));
}
