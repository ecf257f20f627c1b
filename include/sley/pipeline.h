/* SPDX-License-Identifier: MIT */
/*
 * sley/pipeline.h - items pass through stages, several items at a time.
 *
 *     const struct sley_stage stages[] = {
 *             { .fn = read_block, .arg = file },
 *             { .fn = compress, .mode = SLEY_STAGE_PARALLEL },
 *             { .fn = write_block, .arg = out },
 *     };
 *     int err = sley_pipeline(stages, 3, 0);
 *
 * The first stage makes items; each later stage takes the output of the stage
 * before it.  An item is a pointer.  The number of tokens limits the number of
 * items under way: no new item is made while the last stage is behind.
 *
 * The task that makes an item takes the item through as many stages as possible.
 * So an item usually stays on one worker, with its data in the cache.  Nothing
 * is allocated per item.  Stages may block; their worker goes on with other
 * items and other tasks.  A stage must not wait for a later item: with one token
 * there is no later item.
 *
 * A stage that blocks its thread, because it calls read(), fsync() or a library
 * that waits in its own way, has SLEY_STAGE_BLOCKS in its mode.  Its function
 * runs on a thread of <sley/blocking.h>, and holds no worker.  Afterwards the
 * item goes on with the first free worker.
 *
 * A stage that fails ends the pipeline: no item is made any more, running stages
 * finish, and every item under way goes to the drop function of the stage that
 * made it.  So no item is lost: each item was taken by a later stage, or
 * dropped.  If a stage could block for ever after the others have stopped, use
 * sley_pipeline_with(): there a failure ends the waits of all stages.
 */
#ifndef SLEY_PIPELINE_H
#define SLEY_PIPELINE_H

#include <sley/compiler.h>
#include <sley/how.h>

SLEY_BEGIN_DECLS

enum sley_stage_mode {
	SLEY_STAGE_ORDERED,  /* one item at a time, in the order of the input */
	SLEY_STAGE_SERIAL,   /* one item at a time, as they arrive            */
	SLEY_STAGE_PARALLEL, /* any number at a time                          */
};

/*
 * Added to the mode: the function blocks its thread.  The function runs on a
 * thread of <sley/blocking.h>, or on the worker if there is no such thread and a
 * new thread cannot be started.
 */
#define SLEY_STAGE_BLOCKS 0x100u

/*
 * The function of a stage.  *@item is the output of the stage before.  The
 * function stores its own output in *@item, or NULL to end the item here.  In
 * the first stage *@item is NULL; if it stays NULL, the input has ended.  The
 * output of the last stage is ignored.
 *
 * Returns 0, or a negative error; every value but 0 counts as an error.  On an
 * error the pointer in *@item counts as not taken, and goes to the drop function
 * of the stage before.  So a stage that has freed its item and fails sets *@item
 * to NULL.  When the first stage fails, *@item is ignored.
 */
typedef int sley_stage_fn(void **item, void *arg);

/* Gets an item that no stage will take, and the .arg of the stage that made it. */
typedef void sley_drop_fn(void *item, void *arg);

/* The first stage makes one item at a time: its mode is not PARALLEL. */
struct sley_stage {
	sley_stage_fn *fn;
	void *arg;
	uint32_t mode;      /* enum sley_stage_mode, | SLEY_STAGE_BLOCKS */
	sley_drop_fn *drop; /* for items of @fn; NULL: nothing to do */
};

#define SLEY_PIPELINE_STAGES_MAX 256
#define SLEY_PIPELINE_TOKENS_MAX 65536

/*
 * sley_pipeline - pass items through @nr stages, at most @tokens at a time.
 *
 * Returns when all items are through and all stages have returned: 0, or the
 * first error of a stage.  0 tokens mean four for each worker.  If memory for
 * the tokens is short, or there is no runtime, there is one token.  A cancel of
 * the caller does not end the pipeline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps, or runs the stages itself without
 *           a runtime
 * Owner:    @stages is borrowed for the call.
 * Order:    the work of a stage on an item happens before the next stage gets
 *           the item; the work of an ordered or serial stage on an item happens
 *           before the stage gets the next item.  All happens before the return.
 * Errors:   the first error of a stage
 *           -EINVAL  there is no stage, or more than SLEY_PIPELINE_STAGES_MAX,
 *                    or more than SLEY_PIPELINE_TOKENS_MAX tokens; a stage has
 *                    no function or an unknown mode; the first stage is parallel
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_pipeline(const struct sley_stage *stages, size_t nr, uint32_t tokens);

/*
 * sley_pipeline_with - sley_pipeline() with options; NULL for none.
 *
 * A cancel of the caller, or of a scope around the caller, ends the pipeline
 * like a stage that fails.  So does a cancel of the scope of @how, which is
 * checked between stages.  In each of these cases the waits of blocked stages
 * return -ECANCELED, and so do later waits in drop functions (see
 * <sley/scope.h>).  With .migratable a stage that has blocked may resume on any
 * worker.  The grain and the order of @how have no meaning here.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps, or runs the stages itself without
 *           a runtime
 * Errors:   as sley_pipeline()
 *           -ECANCELED      some items were not made, or dropped
 *           -E2BIG          @how has fields that this library does not know
 *           SLEY_EPRIORITY  there is no such priority
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_pipeline_with(const struct sley_stage *stages, size_t nr, uint32_t tokens,
		   const struct sley_how *how);

SLEY_END_DECLS
#endif
