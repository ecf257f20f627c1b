/* SPDX-License-Identifier: MIT */
/*
 * sley/stock.h - a stock of objects that are borrowed and returned.
 *
 * For objects that are expensive to make or must be limited in number: buffers,
 * connections, licences.  A borrowed object is a *loan*.  A stock makes its
 * objects on demand, up to its capacity, and keeps returned objects.  A caller
 * that wants more objects than are available waits; first come, first served.
 *
 *	struct sley_stock *buffers;
 *	void *buffer;
 *
 *	sley_stock_create(&buffers, SLEY_STOCK_CONFIG(.object_size = 65536,
 *						      .capacity = 10));
 *	sley_stock_borrow(buffers, &buffer);
 *	...
 *	sley_stock_return(buffer);
 *
 * A loan may outlive its stock.  Stocks work between tasks and plain threads
 * alike, and without any runtime.
 */
#ifndef SLEY_STOCK_H
#define SLEY_STOCK_H

#include <sley/compiler.h>

SLEY_BEGIN_DECLS

struct sley_stock;

/*
 * Use SLEY_STOCK_CONFIG() to set it up.  All fields but .size and .object_size
 * may be zero.
 *
 * Without .preserve, each borrow constructs its object and each return destructs
 * it.  With .preserve, an object is constructed once, keeps its contents from
 * loan to loan, and is destructed with the stock.  Memory that was never used
 * before is zeroed.
 *
 * .construct runs in the borrower and .destruct in the task or thread that
 * returns the object, outside of all locks.  Both may wait, and may use this
 * stock.
 */
struct sley_stock_config {
	uint32_t size;      /* of this struct; the macro sets it              */
	bool preserve;      /* construct once, see above                      */
	size_t object_size; /* in bytes                                       */
	size_t capacity;    /* loans at the same time; 0: no limit */
	size_t keep;        /* how many returned objects to keep; 0: all      */
	/* 0, or a negative error: nothing was made, and the borrow fails. */
	int (*construct)(void *object, void *self);
	void (*destruct)(void *object, void *self);
	void *self;
	size_t align; /* of each object: a power of two up to
			 SLEY_STOCK_ALIGN_MAX; 0: 16 at least                 */
	uint64_t reserved[3];
};

#define SLEY_STOCK_ALIGN_MAX ((size_t)1 << 21) /* a large page */

#define SLEY_STOCK_CONFIG(...)                                                 \
	SLEY_LITERAL(struct sley_stock_config, __VA_ARGS__)

/*
 * sley_stock_config_default - a default configuration of a stock, to change.
 *
 * As sley_config_default(), for a stock; .object_size must be set.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_ANY_THREAD SLEY_NEVER_BLOCKS static inline struct sley_stock_config
sley_stock_config_default(void)
{
	struct sley_stock_config config = SLEY_ZEROED;

	config.size = sizeof(config);
	return config;
}

/*
 * sley_stock_create - make an empty stock; borrows make the objects.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    *@out belongs to the caller, until sley_stock_destroy().  @config is
 *           borrowed for the call, config->self until the stock is destroyed and
 *           the last loan is returned.
 * Errors:   -ENOMEM
 *           -EINVAL  config->size or .object_size is zero, objects would not fit
 *                    in memory, or .align is no power of two or above
 *                    SLEY_STOCK_ALIGN_MAX
 *           -E2BIG   a newer field is set
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_stock_create(struct sley_stock **out,
		  const struct sley_stock_config *config);

/*
 * sley_stock_destroy - end a stock; the last loan frees its memory.
 *
 * Callers that wait for an object get -ESHUTDOWN.  Loans stay valid, and are
 * destructed and freed when they are returned.  Kept objects are destructed and
 * freed at once.  Only the holder of a loan may still try to borrow, and gets
 * -ESHUTDOWN.  Does nothing with NULL.
 *
 * Context:  any thread
 * Blocks:   never, unless config->destruct does
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_stock_destroy(struct sley_stock *stock);

/*
 * sley_stock_borrow - borrow an object from a stock; wait if necessary.
 *
 * The call stores the address of the object, aligned to 16 bytes at least, in
 * *@object.  The caller has the only reference.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    the caller, until sley_stock_return()
 * Order:    everything done with the object before its last return happens
 *           before the return.
 * Errors:   -ECANCELED
 *           -ESHUTDOWN  the stock was destroyed, perhaps during the wait
 *           -ENOMEM, and the errors of config->construct; no object is lost then
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_stock_borrow(struct sley_stock *stock, void **object);

/*
 * sley_stock_borrow_until - sley_stock_borrow() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ETIMEDOUT, and as sley_stock_borrow()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_stock_borrow_until(struct sley_stock *stock, void **object,
			uint64_t deadline_ns);

/*
 * sley_stock_try_borrow - borrow an object if this needs no wait.
 *
 * The call does not overtake waiting callers.
 *
 * Context:  any thread
 * Blocks:   never, unless config->construct does
 * Errors:   -EAGAIN (no object is free), -ESHUTDOWN, -ENOMEM, and the errors of
 *           config->construct
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_stock_try_borrow(struct sley_stock *stock, void **object);

/*
 * sley_stock_borrow_n - borrow @n objects at once; wait if necessary.
 *
 * The addresses are in @objects.  All or nothing: a waiting request holds no
 * objects, so requests cannot deadlock.  Later and smaller requests do not
 * overtake it.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    as sley_stock_borrow(), for each object
 * Errors:   as sley_stock_borrow(), and
 *           -EINVAL  @n is above the capacity
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_stock_borrow_n(struct sley_stock *stock, void **objects, size_t n);

/*
 * sley_stock_borrow_n_until - sley_stock_borrow_n() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ETIMEDOUT, and as sley_stock_borrow_n()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_stock_borrow_n_until(struct sley_stock *stock, void **objects, size_t n,
			  uint64_t deadline_ns);

/*
 * sley_loan_ref - add a reference to a borrowed @object.
 *
 * Each reference must be dropped with sley_stock_return().
 *
 * Context:  any thread that may use @object
 * Blocks:   never
 * Errors:   none; an @object that is not borrowed is misuse
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void sley_loan_ref(void *object);

/*
 * sley_stock_return - drop a reference to @object; the last one returns it.
 *
 * The return of an object that is not borrowed is misuse, which is noticed as
 * long as the stock keeps the object.
 *
 * Context:  any thread
 * Blocks:   never, unless config->destruct does
 * Order:    everything before the call happens before the next borrow of the
 *           object returns.
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_stock_return(void *object);

/* Counters of one stock, at the time of the call. */
struct sley_stock_stats {
	uint64_t constructed; /* constructed objects                       */
	uint64_t lent;        /* borrowed objects                          */
	uint64_t kept;        /* returned objects that are kept            */
	uint64_t waiting;     /* waiting requests                          */
	uint64_t borrows;     /* objects borrowed so far                   */
	uint64_t reserved[3];
};

/*
 * sley_stock_get_stats - read the counters of a stock.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_stock_get_stats(const struct sley_stock *stock,
		     struct sley_stock_stats *out);

SLEY_END_DECLS
#endif
