/* SPDX-License-Identifier: MIT */
/*
 * sley/stock.h - a stock of objects that are borrowed and returned.
 *
 * For what is dear to make or must be limited in number: buffers, connections,
 * licences.  A borrowed object is a *loan*.  A stock makes its objects on
 * demand, up to its capacity, and keeps those that were returned.  Who wants
 * more than there are at the moment waits; first come, first served.
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
 * A loan knows its stock and may outlive it.  Stocks work between tasks and
 * plain threads alike, and without any runtime.
 */
#ifndef SLEY_STOCK_H
#define SLEY_STOCK_H

#include <sley/compiler.h>

SLEY_BEGIN_DECLS

struct sley_stock;

/*
 * Set it up with SLEY_STOCK_CONFIG().  All but .size and .object_size may be
 * zero.
 *
 * Without .preserve, objects are constructed each time they are borrowed and
 * destructed each time they are returned.  With it, they are constructed once,
 * keep what is in them from loan to loan, and are destructed with the stock.
 * Memory that was never used before is zeroed.
 *
 * Both functions run in whoever borrows or returns, outside of all locks: they
 * may wait, and may use this stock.
 */
struct sley_stock_config {
	uint32_t size;      /* of this struct; the macro sets it              */
	bool preserve;      /* construct once, see above                      */
	size_t object_size; /* in bytes                                       */
	size_t capacity;    /* objects that can be out at a time; 0: no limit */
	size_t keep;        /* returned ones that are kept; 0: all            */
	/* 0, or a negative error: nothing was made, the borrow fails. */
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
 * sley_stock_create - make an empty stock; a borrow makes the objects.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    the caller; sley_stock_destroy() gives it up.  @config is borrowed
 *           for the call, config->self until the stock is destroyed and the
 *           last loan is returned.
 * Errors:   -ENOMEM
 *           -EINVAL   config->size or .object_size is zero, objects would not
 *                     fit in memory, or .align is no power of two or above
 *                     SLEY_STOCK_ALIGN_MAX
 *           -E2BIG    a newer field is set
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_stock_create(struct sley_stock **out,
		  const struct sley_stock_config *config);

/*
 * sley_stock_destroy - give the stock up; its memory goes with the last loan.
 *
 * Whoever waits for an object gets -ESHUTDOWN.  Objects that are out stay
 * valid, and are destructed and freed when they are returned; those that are
 * kept, at once.  Only who holds a loan may still try to borrow, and gets
 * -ESHUTDOWN.  Does nothing with NULL.
 *
 * Context:  any thread
 * Blocks:   never, unless config->destruct does
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_stock_destroy(struct sley_stock *stock);

/*
 * sley_stock_borrow - borrow an object from a stock, waiting for one.
 *
 * It is in *@object, aligned to 16 bytes at least, and the caller has the one
 * reference.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    the caller, until sley_stock_return()
 * Order:    what was done with the object before it was returned last happens
 *           before the return.
 * Errors:   -ECANCELED
 *           -ESHUTDOWN   the stock was destroyed, also while waiting
 *           -ENOMEM, and what config->construct returns; nothing is lost then
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
 * sley_stock_try_borrow - borrow an object if it takes no waiting.
 *
 * Not ahead of those who wait.
 *
 * Context:  any thread
 * Blocks:   never, unless config->construct does
 * Errors:   -EAGAIN (all are out), -ESHUTDOWN, -ENOMEM, config->construct's
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_stock_try_borrow(struct sley_stock *stock, void **object);

/*
 * sley_stock_borrow_n - borrow @n objects at once, waiting for all.
 *
 * They are in @objects.  All or nothing: a request that waits holds none, so
 * requests cannot block each other for ever.  It is not overtaken by later and
 * smaller ones.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    as sley_stock_borrow(), each of them
 * Errors:   as sley_stock_borrow(), and
 *           -EINVAL   @n is above the capacity
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
 * One more who must return it.
 *
 * Context:  any thread that may use @object
 * Blocks:   never
 * Errors:   none; @object that is not out is misuse
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void sley_loan_ref(void *object);

/*
 * sley_stock_return - drop a reference to @object; the last gives it back.
 *
 * Returning one that is not out is misuse, caught as long as its stock keeps
 * it.
 *
 * Context:  any thread
 * Blocks:   never, unless config->destruct does
 * Order:    everything before it happens before the next borrow of the object
 *           returns.
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_stock_return(void *object);

/* Counters of one stock, at the time of the call. */
struct sley_stock_stats {
	uint64_t constructed; /* objects that are constructed              */
	uint64_t lent;        /* objects that are out                      */
	uint64_t kept;        /* objects that were returned and are kept   */
	uint64_t waiting;     /* requests that wait                        */
	uint64_t borrows;     /* objects that were lent so far             */
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
