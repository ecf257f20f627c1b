/* SPDX-License-Identifier: MIT */
/*
 * sley/how.h - how a parallel algorithm runs: the options of the _with forms.
 *
 * Each algorithm has a short form and a _with form.  The short form cannot fail,
 * and a cancel does not cut it short.  The _with form takes a struct sley_how:
 *
 *     err = sley_for_with(0, nr, body, arg, SLEY_HOW(.priority = 5));
 *
 * Pieces.  An algorithm cuts its work into pieces, and runs some of the pieces
 * in parallel.  A piece may block; other pieces go on meanwhile.  But no two
 * pieces are guaranteed to run at the same time, so pieces must not wait for
 * each other (use sley_parallelize() for that).  A piece returns normally: a
 * longjmp() or an exception must not leave it, because other pieces may be under
 * way in the frames below.
 *
 * Where pieces run.  A task runs pieces itself, and idle workers take some of
 * them.  For a bound thread, and for a task in a blocking region, a task of the
 * runtime runs the pieces; the thread sleeps meanwhile.  The thread may run the
 * first few pieces itself, to see whether there is enough to do.  A thread
 * without a runtime runs all pieces, one after the other.  All pieces are in the
 * task tree of the caller (sley_group_in_tree()).
 *
 * .priority: the priority of the tasks that run pieces.  0 means the caller's
 * own priority, which is 0 for a thread.  With any other priority the caller
 * runs no pieces, unless the caller has that very priority: it waits for a task
 * that runs them.  So a caller of another priority cannot ask for priority 0; it
 * spawns a task for that.
 *
 * .migratable: the tasks that run pieces are migratable (<sley/task.h>): a piece
 * that has blocked may resume on any worker, and does not wait for a long task
 * on the worker where it blocked.  A caller that is not migratable itself runs
 * no pieces then: it waits for a task that runs them, and resumes on its own
 * worker.  Without the option pieces are migratable if the calling task is.
 *
 * .grain: the minimum number of elements in a piece; if there are fewer
 * elements, all are in one piece.  A piece has less than twice as many elements,
 * except for the first pieces, which are larger if they take only microseconds.
 * 0 lets the algorithm choose: few pieces if they are short, otherwise several
 * for each worker.  Give a grain if elements differ so much that the first ones
 * say nothing about the rest, or if cancellation must take effect earlier.
 *
 * .ordered: the shape of the computation depends only on the range and the
 * grain, not on the workers and not on time.  The shape is which elements are in
 * one piece, and which results are combined.  So floating-point results have the
 * same bits in every run.  An algorithm that may choose between several answers
 * gives the first one.  When and where each piece runs is still open.  The cost
 * is small: short work is cut into pieces, too.
 *
 * .scope: the call ends soon after this scope is cancelled, also by its deadline
 * (<sley/scope.h>).  With or without this option, the call ends soon after a
 * cancel of the calling task, of a scope that the task has open, or of
 * everything (sley_cancel_all()).  A call in a piece of another algorithm also
 * ends soon after a cancel of the caller of that algorithm.  Pieces that have
 * begun finish, no other piece begins, and the call returns -ECANCELED.  If all
 * pieces had begun, the call returns 0.  The caller does not learn which pieces
 * did not run.  A thread is in no scope, not even in a scope that it has opened:
 * name the scope here.
 */
#ifndef SLEY_HOW_H
#define SLEY_HOW_H

#include <sley/compiler.h>

SLEY_BEGIN_DECLS

struct sley_scope; /* <sley/scope.h> */

/* See above.  Zero means the default in every field. */
struct sley_how {
	uint32_t size;    /* of this struct; SLEY_HOW sets it               */
	int32_t priority; /* SLEY_PRIORITY_MIN to _MAX; 0: the caller's own */
	size_t grain;     /* elements in one piece, at least; 0: automatic  */
	bool ordered;     /* the same shape in every run                    */
	struct sley_scope *scope; /* its cancel ends the call               */
	bool migratable; /* pieces may resume on any worker                 */
	uint64_t reserved[3];
};

#define SLEY_HOW(...) SLEY_LITERAL(struct sley_how, __VA_ARGS__)

/*
 * sley_how_default - default options, to change field by field.
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
