/* SPDX-License-Identifier: MIT */
/*
 * sley/shared.h - reference-counted memory, for objects without a single owner.
 *
 * Events, mutexes and all similar objects are plain memory, and zeroed memory is
 * a valid object.  If it is not known which task uses an object last, put the
 * object into shared memory:
 *
 *	struct sley_event *ready = SLEY_SHARED(struct sley_event);
 *
 *	sley_spawn(&group, &task, producer, sley_shared_ref(ready));
 *	err = sley_event_wait(ready);
 *	sley_shared_unref(ready);   // the producer may still be in its set
 *
 * The caller of a function on the object must hold a reference until the
 * function returns.
 */
#ifndef SLEY_SHARED_H
#define SLEY_SHARED_H

#include <sley/compiler.h>
#include <sley/runtime.h>

SLEY_BEGIN_DECLS

/*
 * sley_shared_create - allocate @size zeroed bytes, with one reference.
 *
 * @last, if not NULL, is called with the object when the last reference is
 * dropped, in the task or thread that drops it.  The memory is aligned to 16
 * bytes at least.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    the holders of references
 * Errors:   NULL if there is no memory, or @size is 0
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK void *
sley_shared_create(size_t size, sley_fn *last);

/*
 * sley_shared_create_aligned - sley_shared_create(), aligned to @align bytes.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    the holders of references
 * Errors:   NULL if there is no memory, @size is 0, or @align is no power of two
 *           or above SLEY_SHARED_ALIGN_MAX
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK void *
sley_shared_create_aligned(size_t size, size_t align, sley_fn *last);

#define SLEY_SHARED_ALIGN_MAX ((size_t)1 << 21) /* a large page */

/* SLEY_SHARED(type) - a zeroed object of that type, with its alignment, or NULL. */
#define SLEY_SHARED(type)                                                      \
	((type *)sley_shared_create_aligned(sizeof(type), __alignof__(type),   \
					    NULL))

/*
 * sley_shared_ref - add a reference to @object.
 *
 * Each reference must be dropped with sley_shared_unref().  Returns @object.
 * Does nothing with NULL.
 *
 * Context:  any thread that may use @object
 * Blocks:   never
 * Errors:   none; @object without references is misuse
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void *
sley_shared_ref(void *object);

/*
 * sley_shared_unref - drop a reference to @object; the last one frees it.
 *
 * Does nothing with NULL.
 *
 * Context:  any thread
 * Blocks:   never, unless the function given to sley_shared_create() does
 * Order:    everything before each drop of a reference happens before that
 *           function is called.
 * Errors:   none; one call too many is misuse, not always caught
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_shared_unref(void *object);

SLEY_END_DECLS
#endif
