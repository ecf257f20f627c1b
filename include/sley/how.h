/* SPDX-License-Identifier: MIT */
/*
 * sley/how.h - how a parallel algorithm runs: what their _with forms take.
 *
 * Each algorithm has a short form, which cannot fail and which cancellation
 * does not cut short, and a _with form, which takes a struct sley_how:
 *
 *     err = sley_for_with(0, nr, body, arg, SLEY_HOW(.priority = 5));
 *
 * Pieces.  An algorithm cuts its work into pieces, and runs some of them beside
 * the others.  A piece may block, and others go on meanwhile.  But no two of
 * them are promised to run at the same time: they must not wait for each other
 * (sley_parallelize() is for that).  It returns: a longjmp() or an exception must
 * not leave it, for others may be under way in the frames below.
 *
 * Who runs them.  A task runs pieces itself, and idle workers take some from
 * it.  For a bound thread, and for a task in a blocking region, a task of their
 * runtime does; the thread sleeps meanwhile.  It may run the first few itself,
 * to see whether there is enough to do.  A thread that belongs to no runtime
 * runs all of them, one after the other.  All pieces are in the task tree of the
 * caller (sley_group_in_tree()).
 *
 * .priority: of the tasks that run pieces.  0 is the caller's own, that of a
 * thread is 0.  With any other one the caller runs nothing itself, unless it has
 * that very priority: it waits for a task that does.  So a caller of another
 * priority cannot ask for priority 0; it spawns a task for that.
 *
 * .grain: at least so many elements are in each piece, all of them if there are
 * fewer.  A piece has less than twice as many, except for the first ones, which
 * are larger if they take only microseconds.  0 lets the algorithm choose: few
 * pieces if they are short, several for each worker if not.  Give a grain if
 * elements differ so much that the first say nothing about the rest, or to have
 * cancellation heard earlier.
 *
 * .ordered: the shape of the computation, which elements are in one piece and
 * which results are combined with which, depends on the range and the grain
 * alone; not on the workers, and not on time.  So floating-point results have
 * the same bits in every run.  Where an algorithm may choose one of several
 * answers it gives the first one.  Which piece runs when, and where, is as open
 * as without.  It costs a little: short work is cut up, too.
 *
 * .scope: the call ends soon after this scope is cancelled, by its deadline, too
 * (<sley/scope.h>); as it does, without being told, after the calling task is, or
 * a scope that it has open, or everything (sley_cancel_all()); and, if it is in a
 * piece of another algorithm, after the caller of that one is.  Pieces that have
 * begun are finished, no other one begins, and the call returns -ECANCELED.  If
 * all had begun it returns 0.  Which ones did not run is not told.  A thread is
 * in no scope, not even in its own: it names the one that is meant.
 */
#ifndef SLEY_HOW_H
#define SLEY_HOW_H

#include <sley/compiler.h>

SLEY_BEGIN_DECLS

struct sley_scope; /* <sley/scope.h> */

/* See above.  Zero means the default everywhere. */
struct sley_how {
	uint32_t size;    /* of this struct; SLEY_HOW sets it               */
	int32_t priority; /* SLEY_PRIORITY_MIN to _MAX; 0: the caller's own */
	size_t grain;     /* elements in one piece, at least; 0: automatic  */
	bool ordered;     /* the same shape in every run                    */
	struct sley_scope *scope; /* ends it when cancelled                 */
	uint64_t reserved[4];
};

#define SLEY_HOW(...) SLEY_LITERAL(struct sley_how, __VA_ARGS__)

/*
 * sley_how_default - the default way, to change field by field.
 *
 * As sley_config_default(), for a parallel algorithm.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline struct sley_how
sley_how_default(void)
{
	struct sley_how how = SLEY_ZEROED;

	how.size = sizeof(how);
	return how;
}

SLEY_END_DECLS
#endif
