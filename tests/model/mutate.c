/* SPDX-License-Identifier: MIT */
/*
 * mutate.c - one operation made wrong, to see whether a model notices.
 *
 * A mutant is a place in the source and a kind of mistake.  Nothing is compiled
 * again: each operation names its place, and is changed when it is posted.  A place
 * is
 *
 *	src/lf/ring.h[:123][,NAME[,EXPRESSION]]
 *
 * the path by its end, the name and the expression where several operations
 * share a line.  The kinds of mistakes:
 *
 *   relaxed      the operation has no order
 *   no-acquire   the operation at most releases
 *   no-release   the operation at most acquires
 *   no-failure   a compare-and-swap that fails has no order
 *   no-total     the operation acquires and releases, but has no place in the order
 *                that all threads agree on
 *   split        a read-modify-write is a load and a store
 *   succeed      a compare-and-swap stores in any case, and reports success
 *   late         a store is carried out after the next step that the store must
 *                not pass: a release, a wake-up, a membarrier
 *   skip         a wake-up or a membarrier is left out
 *
 * Orders mean something in RA only.  A late store is carried out at once where no
 * processor would keep the store: before an operation on the same location, before
 * the thread waits for another thread, and before the thread ends.  If such a point
 * always comes first, the mutant has no effect.
 *
 * A compare-and-swap of a lock word that always succeeds takes held locks, which the
 * search believes impossible (order.c).  The first time that this happens, the
 * search begins anew without the knowledge about locks; two threads that want the
 * lock can then keep each other busy for ever, which proves nothing.
 *
 * setup and finish are left alone.  Without a mutant, this file notes the places
 * that are reached, for --sites.
 */
#include "engine.h"
#include "model_atomic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SITES_MAX 4096 /* a power of two */

enum mutation {
	MUTATE_NOTHING,
	MUTATE_RELAXED,
	MUTATE_NO_ACQUIRE,
	MUTATE_NO_RELEASE,
	MUTATE_NO_FAILURE,
	MUTATE_NO_TOTAL,
	MUTATE_SPLIT,
	MUTATE_SUCCEED,
	MUTATE_LATE,
	MUTATE_SKIP,
};

/* A place that was met, by the address of its text. */
struct site {
	const char *text;
	uint8_t kind; /* enum op_kind */
	bool mutated;
	uint64_t times;
};

/* A late store of a thread, and a barrier that is left out. */
struct pending {
	struct op store;
	bool late;
	bool in_barrier;
};

static struct {
	enum mutation what;
	char file[256]; /* "path:line", or the path alone */
	const char *name, *expression;
} mutant;

static struct site sites[SITES_MAX];
static struct pending pending[THREADS];
static bool again; /* the search must start anew, without locks */
static uint64_t nr_reached, nr_wrong;

/* ---- places --------------------------------------------------------------- */

/* "src/lf/ring.h:12" is the end of "/home/me/sley/src/lf/ring.h:12". */
static bool is_end_of(const char *end, const char *text)
{
	size_t n = strlen(end), of = strlen(text);

	if (!strchr(end, ':'))
		of = strcspn(text, ":");
	return n <= of && strncmp(text + of - n, end, n) == 0 &&
	       (n == of || text[of - n - 1] == '/');
}

static bool is_mutants(const char *text)
{
	const char *name = text + strlen(text) + 1;
	const char *expression = name + strlen(name) + 1;

	return mutant.what && is_end_of(mutant.file, text) &&
	       (!mutant.name || strcmp(mutant.name, name) == 0) &&
	       (!mutant.expression ||
		strcmp(mutant.expression, expression) == 0);
}

static struct site *site_of(const struct op *op)
{
	uintptr_t i = (uintptr_t)op->site * 0x9e3779b97f4a7c15u >> 20;
	struct site *s;

	for (;; i++) {
		s = &sites[i % SITES_MAX];
		if (s->text == op->site)
			return s;
		if (!s->text)
			break;
	}
	*s = (struct site){ .text = op->site,
			    .kind = op->kind,
			    .mutated = is_mutants(op->site) };
	return s;
}

static const char *kind_name(uint8_t kind)
{
	switch ((enum op_kind)kind) {
	case OP_LOAD:
		return "load";
	case OP_STORE:
		return "store";
	case OP_RMW:
		return "rmw";
	case OP_CAS:
		return "cas";
	case OP_FUTEX_WAKE:
		return "wake";
	case OP_BARRIER_START:
		return "barrier";
	default:
		return NULL;
	}
}

void mutate_print_sites(void)
{
	for (int i = 0; i < SITES_MAX; i++) {
		const struct site *s = &sites[i];
		const char *name, *expression;

		if (!s->text || !kind_name(s->kind))
			continue;
		name = s->text + strlen(s->text) + 1;
		expression = name + strlen(name) + 1;
		printf("site\t%s\t%s\t%s\t%s\t%s\t%llu\n", engine.model->name,
		       s->text, name, expression, kind_name(s->kind),
		       (unsigned long long)s->times);
	}
	memset(sites, 0, sizeof(sites));
}

/* ---- the mutant ------------------------------------------------------------ */

static enum mutation mutation_named(const char *name)
{
	static const char *const names[] = {
		[MUTATE_RELAXED] = "relaxed",
		[MUTATE_NO_ACQUIRE] = "no-acquire",
		[MUTATE_NO_RELEASE] = "no-release",
		[MUTATE_NO_FAILURE] = "no-failure",
		[MUTATE_NO_TOTAL] = "no-total",
		[MUTATE_SPLIT] = "split",
		[MUTATE_SUCCEED] = "succeed",
		[MUTATE_LATE] = "late",
		[MUTATE_SKIP] = "skip",
	};

	for (int i = 1; i < (int)(sizeof(names) / sizeof(names[0])); i++) {
		if (strcmp(names[i], name) == 0)
			return (enum mutation)i;
	}
	return MUTATE_NOTHING;
}

bool mutate_parse(const char *text)
{
	const char *kind = strrchr(text, ':');
	char *comma;

	memset(&mutant, 0, sizeof(mutant));
	memset(sites, 0, sizeof(sites));
	if (!kind || (size_t)(kind - text) >= sizeof(mutant.file))
		return false;
	memcpy(mutant.file, text, (size_t)(kind - text));
	mutant.what = mutation_named(kind + 1);
	comma = strchr(mutant.file, ',');
	if (comma) {
		*comma = '\0';
		mutant.name = comma + 1;
		comma = strchr(comma + 1, ',');
	}
	if (comma) {
		*comma = '\0';
		mutant.expression = comma + 1;
	}
	engine.mutating = true;
	return mutant.what != MUTATE_NOTHING;
}

void mutate_list(void)
{
	engine.mutating = true;
}

void mutate_reset(void)
{
	if (engine.mutating)
		memset(pending, 0, sizeof(pending));
}

/* ---- wrong operations ------------------------------------------------------ */

static uint8_t order_without(uint8_t order, uint8_t without)
{
	uint8_t other = without == MODEL_ORDER_ACQUIRE ? MODEL_ORDER_RELEASE
						       : MODEL_ORDER_ACQUIRE;

	if (order == MODEL_ORDER_ACQ_REL)
		return other;
	return order == without ? MODEL_ORDER_RELAXED : order;
}

static uint64_t post_split(struct op op)
{
	struct op part = op;
	uint64_t found;

	part.kind = OP_LOAD;
	part.order = order_without(op.order, MODEL_ORDER_RELEASE);
	found = machine_take(&part);
	if (op.kind == OP_CAS && found != op.expected)
		return found;
	part.kind = OP_STORE;
	part.order = order_without(op.order, MODEL_ORDER_ACQUIRE);
	if (op.kind == OP_RMW)
		part.value = machine_rmw_value(&op, found);
	machine_take(&part);
	return found;
}

static uint64_t post_success(struct op op)
{
	uint64_t expected = op.expected;

	op.kind = OP_RMW;
	op.how = MODEL_XCHG;
	nr_wrong += machine_take(&op) != expected;
	return expected;
}

/* The thread's frame may be gone by now, and then no thread can look there. */
static void post_late(struct pending *p, bool wrong)
{
	const char *addr = p->store.addr;

	p->late = false;
	if (strand_of(addr) == engine.current &&
	    addr < (char *)__builtin_frame_address(0))
		return;
	nr_wrong += wrong;
	machine_take(&p->store);
}

/* Must @store be carried out before @op in any case? */
static bool comes_first(const struct op *store, const struct op *op)
{
	/* Waking needs the address only. */
	if (op->kind != OP_FUTEX_WAKE && op->addr < store->addr + store->size &&
	    store->addr < op->addr + op->size)
		return true;
	if (op->kind == OP_RMW && machine_is_lock(op->addr))
		return true;
	return op->kind == OP_EXIT || op->kind == OP_FREE ||
	       op->kind == OP_SPIN || op->kind == OP_YIELD ||
	       op->kind == OP_FUTEX_WAIT || site_of(op)->mutated;
}

/* Is @op, done now, a step that no earlier store may pass? */
static bool orders_stores(const struct op *op, uint64_t result)
{
	switch ((enum op_kind)op->kind) {
	case OP_FUTEX_WAKE:
	case OP_BARRIER_START:
		return true;
	case OP_CAS:
		if (result != op->expected)
			return false;
		break;
	case OP_STORE:
	case OP_RMW:
		break;
	default:
		return false;
	}
	return op->order == MODEL_ORDER_RELEASE ||
	       op->order == MODEL_ORDER_ACQ_REL ||
	       op->order == MODEL_ORDER_SEQ_CST;
}

static uint64_t post_mutated(struct op op, struct pending *p)
{
	switch (mutant.what) {
	case MUTATE_RELAXED:
		op.order = op.failure = MODEL_ORDER_RELAXED;
		break;
	case MUTATE_NO_ACQUIRE:
		op.order = order_without(op.order, MODEL_ORDER_ACQUIRE);
		op.failure = MODEL_ORDER_RELAXED;
		break;
	case MUTATE_NO_FAILURE:
		op.failure = MODEL_ORDER_RELAXED;
		break;
	case MUTATE_NO_RELEASE:
		op.order = order_without(op.order, MODEL_ORDER_RELEASE);
		break;
	case MUTATE_NO_TOTAL:
		if (op.order == MODEL_ORDER_SEQ_CST)
			op.order = MODEL_ORDER_ACQ_REL;
		break;
	case MUTATE_SPLIT:
		if (op.kind == OP_RMW || op.kind == OP_CAS)
			return post_split(op);
		break;
	case MUTATE_SUCCEED:
		if (op.kind == OP_CAS)
			return post_success(op);
		break;
	case MUTATE_LATE:
		if (op.kind != OP_STORE)
			break;
		p->store = op;
		p->late = true;
		return op.value;
	case MUTATE_SKIP:
		p->in_barrier = op.kind == OP_BARRIER_START;
		if (p->in_barrier || op.kind == OP_FUTEX_WAKE)
			return 0;
		break;
	default:
		break;
	}
	return machine_take(&op);
}

/* A lock is about to be broken that the search believes in. */
static void check_lock(const struct op *op)
{
	if (mutant.what != MUTATE_SUCCEED || !machine_is_lock(op->addr))
		return;
	again = engine.no_locks = true;
	model_fail(MODEL_UNSTABLE, "a lock word is mutated");
}

static uint64_t post(const struct op *op, struct pending *p)
{
	struct site *site = site_of(op);

	site->times++;
	if (p->in_barrier && op->kind == OP_BARRIER_END) {
		p->in_barrier = false;
		return 0;
	}
	if (!site->mutated)
		return machine_take(op);
	nr_reached++;
	if (mutant.what != MUTATE_LATE && mutant.what != MUTATE_SUCCEED)
		nr_wrong++;
	check_lock(op);
	return post_mutated(*op, p);
}

uint64_t mutate_post(const struct op *op)
{
	struct pending *p;
	uint64_t result;
	bool late;

	if (engine.current < 0)
		return machine_take(op);
	p = &pending[engine.current];
	if (p->late && comes_first(&p->store, op))
		post_late(p, false);
	late = p->late;
	result = post(op, p);
	if (late && orders_stores(op, result))
		post_late(p, true);
	return result;
}

/* ---- the search ------------------------------------------------------------ */

struct search_stats mutate_explore(const struct model *model,
				   enum model_mode mode, enum search_kind kind,
				   uint64_t limit)
{
	struct search_stats stats;

	nr_reached = nr_wrong = 0;
	engine.no_locks = again = false;
	stats = search_explore(model, mode, kind, limit);
	if (again)
		stats = search_explore(model, mode, kind, limit);
	return stats;
}

struct mutate_result mutate_result(const struct search_stats *stats)
{
	struct mutate_result r = { .reached = nr_reached, .wrong = nr_wrong };

	if (engine.failure == MODEL_UNSTABLE ||
	    (engine.failure == MODEL_LIVELOCK && engine.no_locks))
		r.verdict = "unstable";
	else if (engine.failure)
		r.verdict = "killed";
	else if (!nr_reached && stats->complete)
		r.verdict = "unreached";
	else
		r.verdict = stats->complete ? "lives" : "limit";
	return r;
}
