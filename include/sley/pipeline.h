/* SPDX-License-Identifier: MIT */
/*
 * sley/pipeline.h - items go through stages, several of them at a time.
 *
 *     const struct sley_stage stages[] = {
 *             { .fn = read_block, .arg = file },
 *             { .fn = compress, .mode = SLEY_STAGE_PARALLEL },
 *             { .fn = write_block, .arg = out },
 *     };
 *     int err = sley_pipeline(stages, 3, 0);
 *
 * The first stage makes items, each other one takes what the one before it
 * gave.  An item is a pointer.  Only so many are under way at once as there are
 * tokens: no new one is made while the last stage is behind.
 *
 * Whoever makes an item takes it through as many stages as it can, so it stays
 * on one worker as a rule, with its data in cache.  Nothing is allocated per
 * item.  Stages may block; their worker goes on with other items and other
 * tasks.  A stage must not wait for a later item: with one token there is none.
 *
 * A stage that blocks its thread, since it calls read(), fsync() or a library
 * that waits in its own way, has SLEY_STAGE_BLOCKS beside its mode.  Its function
 * runs on a thread of <sley/blocking.h>, and no worker is held.  Afterwards the
 * item goes on with the first worker that is free.
 *
 * A stage that fails ends it all: no item is made any more, stages that run
 * are finished, and every item under way is given to the drop function of the
 * stage that made it.  So none is lost: each was taken by a later stage, or
 * dropped.  Where stages may block for ever without each other, use
 * sley_pipeline_with(): there a failure cuts their waits short.
 */
#ifndef SLEY_PIPELINE_H
#define SLEY_PIPELINE_H

#include <sley/compiler.h>
#include <sley/how.h>

SLEY_BEGIN_DECLS

enum sley_stage_mode {
	SLEY_STAGE_ORDERED,  /* one item at a time, in the order of the input */
	SLEY_STAGE_SERIAL,   /* one item at a time, as they come              */
	SLEY_STAGE_PARALLEL, /* any number at a time                          */
};

/*
 * Beside the mode: the function blocks its thread.  It runs on a thread of
 * <sley/blocking.h>, or on the worker if there is no such thread and none can be
 * started.
 */
#define SLEY_STAGE_BLOCKS 0x100u

/*
 * What a stage does.  *@item is what the stage before gave; the stage puts
 * there what it gives to the next one, or NULL to give nothing: the item ends
 * here.  In the first stage *@item is NULL, and leaving it so is the end of the
 * input.  What the last stage leaves there is ignored.
 *
 * Returns 0, or what went wrong: negative, and anything but 0 counts as that.
 * Then what is left in *@item counts as not taken, and goes to the drop function
 * of the stage before; a stage that has freed its item and fails leaves NULL.  Of
 * the first stage it is ignored.
 */
typedef int sley_stage_fn(void **item, void *arg);

/* Gets an item that no stage will take, and the argument of its stage. */
typedef void sley_drop_fn(void *item, void *arg);

/* The first stage makes one item at a time: its mode is not PARALLEL. */
struct sley_stage {
	sley_stage_fn *fn;
	void *arg;
	uint32_t mode;      /* enum sley_stage_mode, | SLEY_STAGE_BLOCKS */
	sley_drop_fn *drop; /* for what @fn gave; NULL: nothing to do */
};

#define SLEY_PIPELINE_STAGES_MAX 256
#define SLEY_PIPELINE_TOKENS_MAX 65536

/*
 * sley_pipeline - let items through @nr stages, @tokens at a time at most.
 *
 * Returns when all are through and all stages have returned: 0, or what the
 * first stage that failed gave.  0 tokens: four for each worker.  Where memory
 * for the tokens is short, or there is no runtime, there is one.  Cancelling the
 * caller does not end it.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps, or runs the stages itself without
 *           a runtime
 * Owner:    @stages is borrowed for the call.
 * Order:    what a stage does with an item happens before the next stage gets
 *           it; what an ordered or serial stage does with an item happens
 *           before it gets another one.  All happens before the return.
 * Errors:   the first error of a stage
 *           -EINVAL  there is no stage, or more than SLEY_PIPELINE_STAGES_MAX,
 *                    or more than SLEY_PIPELINE_TOKENS_MAX tokens; a stage has
 *                    no function or no such mode; the first one is parallel
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_pipeline(const struct sley_stage *stages, size_t nr, uint32_t tokens);

/*
 * sley_pipeline_with - sley_pipeline() with options; NULL for none.
 *
 * Cancelling the caller, or a scope that it is in, ends it as a stage does that
 * fails; so does the scope of @how, which is looked at between stages.  In each
 * of these cases, stages that block are told: their waits return -ECANCELED, as
 * do those in drop functions from then on (see <sley/scope.h>).  The grain and
 * the order of @how mean nothing here.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps, or runs the stages itself without
 *           a runtime
 * Errors:   the first error of a stage; -EINVAL as above
 *           -ECANCELED      some items were not made, or dropped
 *           -E2BIG          @how has fields this library does not know
 *           SLEY_EPRIORITY  there is no such priority
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_pipeline_with(const struct sley_stage *stages, size_t nr, uint32_t tokens,
		   const struct sley_how *how);

SLEY_END_DECLS
#endif
