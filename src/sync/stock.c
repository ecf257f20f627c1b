/* SPDX-License-Identifier: MIT */
/*
 * stock.c - objects that are borrowed and returned.
 *
 * Two things are kept apart.  A *unit* is the right to have an object out; a
 * stock has as many units as its capacity.  The *shelf* holds the memory of
 * objects that came back.  A borrower gets its units, and objects from the shelf,
 * up to that many, in one step under the lock.  Without the lock it allocates the
 * missing objects, and constructs the objects that are not constructed.  A
 * returner destructs, and then puts unit and memory back in one step.
 *
 * Requests wait in one list.  The first request is served as soon as there are
 * units for all that it wants.  No request behind it is served before, and no new
 * request either.  So a request holds nothing while it waits, and a big request
 * is not starved by small requests.  A caller that puts units back, and a caller
 * that leaves the list without having been served, let in the requests that can
 * be served now.
 *
 * An object has a header in front of it that knows its stock and counts its
 * references.  After sley_stock_destroy() the stock lives on for its last users:
 * units that are out, and requests that a deadline or a cancel has decided and
 * that have not left yet.  The last user frees the stock.
 *
 * Edges:
 *
 *   SK1  return drops a reference -> the last return destructs : all uses of the
 *       object
 *   W1  see core/wait/waitq.h; it carries objects from one loan to the next
 *
 * Rejected: a cache per worker.  A stock is bounded, so objects that a worker
 * kept would be missing elsewhere.  A unit and a lock for each object of a
 * request: two requests could each hold units that the other lacks.
 */
#include "sync/stock.h"

#include "core/sched/place.h"
#include "core/wait/wait.h"

#include <errno.h>

struct loan {
	struct sley_stock *stock;
	struct loan *next; /* on the shelf, or on its way                 */
	uint64_t refs;     /* 0: not out                                  */
	bool constructed;
};

/* In front of each object. */
#define LOAN_SIZE 32
_Static_assert(sizeof(struct loan) <= LOAN_SIZE, "aligned to 16");

struct sley_stock {
	/* Fields that every call writes, in one cache line. */
	struct sley_waitq q; /* requests; the lock of the stock             */
	struct loan *shelf;
	size_t kept;    /* on the shelf                                    */
	size_t units;   /* that are free                                   */
	size_t lent;    /* units that are out                              */
	size_t waiting; /* requests that have not been served or left      */
	uint64_t borrows;

	/* Fields that hardly change. */
	struct sley_stock_config config;
	bool closed;          /* under the lock                             */
	uint64_t constructed; /* config.preserve: how many are              */
	struct mem mem;
};
_Static_assert(offsetof(struct sley_stock, config) == CACHE_LINE, "one line");

struct request {
	size_t want;
	struct loan *loans; /* taken from the shelf: not more than wanted  */
};

#define WOKEN_BY_DESTROY 1

static void *object_of(struct loan *loan)
{
	return (char *)loan + LOAN_SIZE;
}

static struct loan *loan_of(void *object)
{
	return (struct loan *)(void *)((char *)object - LOAN_SIZE);
}

/* ---- under the lock ------------------------------------------------------- */

static struct loan *take_from_shelf(struct sley_stock *stock, size_t n)
{
	struct loan *first = stock->shelf, **end = &stock->shelf;

	for (; n && *end; n--) {
		stock->kept--;
		end = &(*end)->next;
	}
	stock->shelf = *end;
	*end = NULL;
	return first;
}

static void put_on_shelf(struct sley_stock *stock, struct loan *loan)
{
	loan->next = stock->shelf;
	stock->shelf = loan;
	stock->kept++;
}

static void grant(struct sley_stock *stock, struct request *request)
{
	stock->units -= request->want;
	stock->lent += request->want;
	stock->borrows += request->want;
	request->loans = take_from_shelf(stock, request->want);
}

/*
 * Serve the first requests, as far as units go.  Returns a chain to be queued.
 * The waiter reads its request once it is queued, so the request is filled in
 * before that.
 */
static struct sley_task *let_in(struct sley_stock *stock)
{
	struct sley_task *chain = NULL, **last = &chain;
	struct sley_waiter *node;

	while ((node = stock->q.first)) {
		struct request *request = node->slot;
		struct sley_task *task = node->task;

		if (request->want > stock->units)
			break;
		waitq_unlink(node);
		/* Not early: the waiter held the lock until it was parked. */
		if (task_decide(task, VERDICT_WOKEN, 0) != DECIDED_QUEUE)
			continue;
		stock->waiting--;
		grant(stock, request);
		task->next = NULL;
		*last = task;
		last = &task->next;
	}
	return chain;
}

/* Only the caller will still touch the stock. */
static bool is_over(const struct sley_stock *stock)
{
	return stock->closed && !stock->lent && !stock->waiting;
}

static void unlock(struct sley_stock *stock)
{
	waitq_unlock_as(&stock->q, 0);
}

static void free_stock(struct sley_stock *stock)
{
	struct mem mem = stock->mem;

	mem_free(&mem, stock, sizeof(*stock));
}

/* Let in the requests that can be served, and leave the lock. */
static void leave(struct sley_stock *stock)
{
	struct sley_task *chain = let_in(stock);
	bool over = is_over(stock);

	unlock(stock);
	if (unlikely(over))
		free_stock(stock);
	task_enqueue_chain(chain);
}

/* ---- objects, without the lock ------------------------------------------------ */

/*
 * From the beginning of the memory to the object: the loan stands in front of it.
 */
static size_t lead_of(const struct sley_stock *stock)
{
	size_t align = stock->config.align;

	return align > LOAN_SIZE ? align : LOAN_SIZE;
}

static size_t loan_bytes(const struct sley_stock *stock)
{
	return lead_of(stock) + stock->config.object_size;
}

static struct loan *make(struct sley_stock *stock)
{
	size_t align = stock->config.align;
	char *memory =
		mem_alloc_aligned(&stock->mem, loan_bytes(stock),
				  align > CACHE_LINE ? align : CACHE_LINE);
	struct loan *loan;

	if (!memory)
		return NULL;
	loan = loan_of(memory + lead_of(stock));
	loan->stock = stock;
	return loan;
}

static int construct(struct sley_stock *stock, struct loan *loan)
{
	const struct sley_stock_config *config = &stock->config;
	int err;

	if (loan->constructed)
		return 0;
	err = config->construct
		      ? config->construct(object_of(loan), config->self)
		      : 0;
	if (err)
		return err;
	loan->constructed = true;
	if (config->preserve)
		/* relaxed: a statistic. */
		(void)add_relaxed(&stock->constructed, 1);
	return 0;
}

static void destruct(struct sley_stock *stock, struct loan *loan)
{
	const struct sley_stock_config *config = &stock->config;

	if (!loan->constructed)
		return;
	loan->constructed = false;
	if (config->destruct)
		config->destruct(object_of(loan), config->self);
	if (config->preserve)
		/* relaxed: a statistic. */
		(void)sub_relaxed(&stock->constructed, 1);
}

static void scrap(struct sley_stock *stock, struct loan *chain)
{
	while (chain) {
		struct loan *loan = chain;

		chain = chain->next;
		destruct(stock, loan);
		mem_free(&stock->mem, (char *)object_of(loan) - lead_of(stock),
			 loan_bytes(stock));
	}
}

/* ---- back ------------------------------------------------------------------------ */

static bool is_kept(const struct sley_stock *stock)
{
	size_t keep = stock->config.keep;

	return !stock->closed && (!keep || stock->kept < keep);
}

/*
 * Give @units back, and the memory in @chain, which may be of fewer objects.
 * Memory that is not kept is freed first: the units keep the stock alive
 * meanwhile.
 */
static void give_back(struct sley_stock *stock, struct loan *chain,
		      size_t units)
{
	(void)waitq_lock(&stock->q);
	while (chain && is_kept(stock)) {
		struct loan *loan = chain;

		chain = chain->next;
		put_on_shelf(stock, loan);
	}
	if (unlikely(chain)) {
		unlock(stock);
		scrap(stock, chain);
		(void)waitq_lock(&stock->q);
	}
	stock->units += units;
	stock->lent -= units;
	leave(stock);
}

/* An object that was lent: make it ready for the shelf. */
static void take_back(struct sley_stock *stock, struct loan *loan)
{
	/* relaxed: the caller has the last reference. */
	store_relaxed(&loan->refs, 0);
	if (!stock->config.preserve)
		destruct(stock, loan);
	loan->next = NULL;
}

void sley_stock_return(void *object)
{
	struct loan *loan = loan_of(object);
	uint64_t refs = load_acquire(&loan->refs); /* SK1 */

	/* The only reference: no other thread can add or drop a reference. */
	if (unlikely(refs != 1))
		refs = sub_acq_rel(&loan->refs, 1); /* SK1 */
	sley_check(refs,
		   "the object was returned before: return it once for each "
		   "reference");
	if (refs != 1)
		return;
	take_back(loan->stock, loan);
	give_back(loan->stock, loan, 1);
}

void sley_loan_ref(void *object)
{
	/* relaxed: the caller may use the object, so there is a reference. */
	uint64_t refs = add_relaxed(&loan_of(object)->refs, 1);

	sley_check(refs,
		   "the object is not lent: take a reference while it is");
}

/* ---- out ------------------------------------------------------------------------- */

/* 0: @request has been granted. */
static int wait_for_units(struct sley_stock *stock, struct request *request,
			  uint64_t deadline_ns)
{
	struct sley_waiter node = { .slot = request };
	int result;

	stock->waiting++;
	result = waitq_wait(&stock->q, &node, deadline_ns, 0);
	if (result == WOKEN_BY_DESTROY)
		return -ESHUTDOWN;
	if (result < 0) {
		stock->waiting--;
		leave(stock);
	}
	return result;
}

static int get_units(struct sley_stock *stock, struct request *request,
		     uint64_t deadline_ns)
{
	(void)waitq_lock(&stock->q);
	if (unlikely(stock->closed)) {
		unlock(stock);
		return -ESHUTDOWN;
	}
	if (unlikely(stock->q.first || request->want > stock->units))
		return wait_for_units(stock, request, deadline_ns);
	grant(stock, request);
	unlock(stock);
	return 0;
}

static int lend(struct sley_stock *stock, struct request *request,
		void **object)
{
	struct loan *loan = request->loans;
	int err;

	if (loan)
		request->loans = loan->next;
	else
		loan = make(stock);
	if (unlikely(!loan))
		return -ENOMEM;
	err = construct(stock, loan);
	if (unlikely(err)) {
		loan->next = request->loans;
		request->loans = loan;
		return err;
	}
	/* relaxed: no other thread knows the object. */
	store_relaxed(&loan->refs, 1);
	*object = object_of(loan);
	return 0;
}

/* Not all objects could be had: @nr of them are in @objects. */
static void undo(struct sley_stock *stock, struct request *request,
		 void **objects, size_t nr)
{
	while (nr--) {
		struct loan *loan = loan_of(objects[nr]);

		take_back(stock, loan);
		loan->next = request->loans;
		request->loans = loan;
	}
	give_back(stock, request->loans, request->want);
}

int sley_stock_borrow_n_until(struct sley_stock *stock, void **objects,
			      size_t n, uint64_t deadline_ns)
{
	struct request request = { .want = n };
	int err;

	if (stock->config.capacity && n > stock->config.capacity)
		return -EINVAL;
	if (n == 0)
		return 0;
	err = get_units(stock, &request, deadline_ns);
	if (err)
		return err;
	for (size_t i = 0; i < n; i++) {
		err = lend(stock, &request, &objects[i]);
		if (unlikely(err)) {
			undo(stock, &request, objects, i);
			return err;
		}
	}
	return 0;
}

int sley_stock_borrow_n(struct sley_stock *stock, void **objects, size_t n)
{
	return sley_stock_borrow_n_until(stock, objects, n, UINT64_MAX);
}

int sley_stock_borrow_until(struct sley_stock *stock, void **object,
			    uint64_t deadline_ns)
{
	return sley_stock_borrow_n_until(stock, object, 1, deadline_ns);
}

int sley_stock_borrow(struct sley_stock *stock, void **object)
{
	return sley_stock_borrow_n_until(stock, object, 1, UINT64_MAX);
}

int sley_stock_try_borrow(struct sley_stock *stock, void **object)
{
	int err = sley_stock_borrow_n_until(stock, object, 1, 0);

	return err == -ETIMEDOUT || err == -ECANCELED ? -EAGAIN : err;
}

/* ---- life ------------------------------------------------------------------------ */

int stock_create(struct sley_stock **out,
		 const struct sley_stock_config *config)
{
	struct sley_stock *stock;
	struct mem mem;

	mem_init(&mem, NULL);
	stock = mem_alloc(&mem, sizeof(*stock));
	if (!stock)
		return -ENOMEM;
	stock->mem = mem;
	stock->config = *config;
	stock->units = config->capacity ? config->capacity : SIZE_MAX;
	*out = stock;
	return 0;
}

void sley_stock_destroy(struct sley_stock *stock)
{
	struct sley_task *chain, *task;
	struct loan *kept;

	if (!stock)
		return;
	(void)waitq_lock(&stock->q);
	sley_check(!stock->closed, "the stock was destroyed before");
	stock->closed = true;
	/* Counts as a loan until the objects of the shelf are gone. */
	stock->lent++;
	kept = take_from_shelf(stock, SIZE_MAX);
	waitq_mark_all(&stock->q, WOKEN_BY_DESTROY);
	chain = waitq_wake_all(&stock->q);
	for (task = chain; task; task = task->next)
		stock->waiting--;
	unlock(stock);
	task_enqueue_chain(chain);
	scrap(stock, kept);
	(void)waitq_lock(&stock->q);
	stock->lent--;
	leave(stock);
}

void sley_stock_get_stats(const struct sley_stock *stock,
			  struct sley_stock_stats *out)
{
	struct sley_stock *locked = (struct sley_stock *)stock;

	*out = (struct sley_stock_stats){ 0 };
	(void)waitq_lock(&locked->q);
	out->lent = stock->lent;
	out->kept = stock->kept;
	out->waiting = stock->waiting;
	out->borrows = stock->borrows;
	unlock(locked);
	/* relaxed: a statistic. */
	out->constructed = stock->config.preserve
				   ? load_relaxed(&stock->constructed)
				   : out->lent;
}
