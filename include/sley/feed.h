/* SPDX-License-Identifier: MIT */
/*
 * sley/feed.h - a pipeline that is fed from a loop.
 *
 * A pipeline of <sley/pipeline.h> asks its first stage for items.  Where a
 * program has a loop that makes items, perhaps deep in a plain thread, a feed
 * turns this around:
 *
 *     const struct sley_stage stages[] = {
 *             { .fn = compress, .mode = SLEY_STAGE_PARALLEL },
 *             { .fn = write_block, .arg = out },
 *     };
 *     struct sley_feed *feed;
 *
 *     err = sley_feed_open(&feed, stages, 2, NULL);
 *     while (!err && (block = read_block(file)))
 *             err = sley_feed_put(feed, block);
 *     err = sley_feed_close(feed);
 *
 * The first stage takes the items that were put; every other stage takes the
 * items that the stage before gave.  A put waits while as many items are under
 * way as there are tokens: so the loop is never far ahead of the last stage.
 */
#ifndef SLEY_FEED_H
#define SLEY_FEED_H

#include <sley/compiler.h>
#include <sley/pipeline.h>

SLEY_BEGIN_DECLS

struct sley_feed;

/* The options of a feed.  Zero means the default everywhere. */
struct sley_feed_options {
	uint32_t size;    /* of this struct; SLEY_FEED_OPTIONS sets it      */
	uint32_t tokens;  /* items under way; 0: four for each worker       */
	int32_t priority; /* of the tasks that run stages                   */
	uint32_t reserved_half;
	sley_drop_fn *drop; /* for items that no stage took; or NULL          */
	void *drop_arg;     /* the argument of @drop                          */
	bool migratable; /* stages may resume on any worker                   */
	uint64_t reserved[3];
};

#define SLEY_FEED_OPTIONS(...)                                                 \
	SLEY_LITERAL(struct sley_feed_options, __VA_ARGS__)

/*
 * sley_feed_open - start a pipeline that waits for items.
 *
 * @options may be NULL.  The pipeline runs in the runtime of the caller.
 * Afterwards any thread may put and close.
 *
 * Context:  a task or a bound thread
 * Blocks:   never
 * Owner:    the caller owns the feed until sley_feed_close(); @stages and
 *           @options are borrowed for the call.
 * Errors:   -ENOMEM, -E2BIG (a newer field is set)
 *           -EINVAL          options->size is zero; there is no stage, or more
 *                            than SLEY_PIPELINE_STAGES_MAX - 1, or more than
 *                            SLEY_PIPELINE_TOKENS_MAX tokens; a stage has no
 *                            function or an unknown mode
 *           SLEY_EPRIORITY
 *           SLEY_ENORUNTIME  the thread is not bound
 *           SLEY_EFORKED     the thread was bound before fork()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_feed_open(struct sley_feed **feed, const struct sley_stage *stages,
	       size_t nr, const struct sley_feed_options *options);

/*
 * sley_feed_put - give an item to the first stage, waiting for a token.
 *
 * The items of one caller stay in the order in which the caller puts them.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @item is the pipeline's if the call returns 0, and stays the
 *           caller's if not.
 * Order:    everything before the call happens before the first stage gets
 *           @item.
 * Errors:   -EINVAL     @item is NULL
 *           -EPIPE      the pipeline has ended, since a stage failed or the feed was
 *                       cancelled; sley_feed_close() says why
 *           -ECANCELED  the caller is cancelled
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_feed_put(struct sley_feed *feed, void *item);

/*
 * sley_feed_put_until - sley_feed_put() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    as sley_feed_put()
 * Order:    as sley_feed_put()
 * Errors:   as sley_feed_put(); -ETIMEDOUT
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_feed_put_until(struct sley_feed *feed, void *item, uint64_t deadline_ns);

/*
 * sley_feed_cancel - end the pipeline early.
 *
 * Stages that run are finished, and their waits end with -ECANCELED.  Items under
 * way are given to the drop functions.  Puts fail with -EPIPE from then on, and
 * sley_feed_close() returns -ECANCELED.  A feed must be closed all the same.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_feed_cancel(struct sley_feed *feed);

/*
 * sley_feed_close - end a feed: wait until all items are through.
 *
 * No other call may use the feed any more.  Cancelling the caller does not cut
 * the wait short.  Does nothing with NULL.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Order:    everything in the stages happens before the return.
 * Errors:   the first error of a stage; -ECANCELED after sley_feed_cancel()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_feed_close(struct sley_feed *feed);

/*
 * sley_feed_close_until - sley_feed_close(), which gives up at a deadline.
 *
 * At the deadline, or if the caller is cancelled, the call cancels the pipeline
 * as sley_feed_cancel() does, and waits for its end.  So the feed is gone in
 * any case.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Order:    as sley_feed_close()
 * Errors:   as sley_feed_close(); -ETIMEDOUT and -ECANCELED: the pipeline was given
 *           up, and some items may have been dropped
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_feed_close_until(struct sley_feed *feed, uint64_t deadline_ns);

SLEY_END_DECLS
#endif
