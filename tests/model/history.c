/* SPDX-License-Identifier: MIT */
/*
 * history.c - memory of the mode RA: the promises of C11, and no more.
 *
 * A location is not a single value but a history: all messages that were ever
 * stored there, in modification order.  The knowledge of a thread is a *view*: per
 * location, the oldest message that the thread may still read.
 *
 *   load    any message from the view on, old messages included: each is
 *           explored.  An acquire adds the view of the message to the view of
 *           the thread.
 *   store   into the history, anywhere behind the view.  A release sends the
 *           thread's whole view, a relaxed store only itself.
 *   rmw     reads a message and stands directly behind that message; nothing can
 *           come between the two later.  The new message also carries the view
 *           of the message that was read: a release sequence, as in C++20.
 *
 * A view also holds a vector clock, which knows happens-before; shadow.c finds
 * races on plain data with it.
 *
 * A thread has three views, since barriers act on earlier operations: `now` is the
 * view of its loads; `later` is the view that the thread would have if an acquire
 * barrier came now; `before` is the view at the last release barrier, and is sent
 * with relaxed stores.  The barrier is membarrier().
 *
 * Sequentially consistent operations are no barriers.  They acquire and release as
 * others do; and they have one order, that of the execution, in which each of them
 * meets the last such store to its location, or a newer message.  An operation of
 * another order has no place in it, on whichever location.
 *
 * membarrier() promises an order between the caller and each other thread.  There
 * is a moment in the call at which both views meet: the earlier operations of the
 * thread are in the caller's view at the end, and the earlier operations of the
 * caller are in the thread's view.  This moment is a separate step, by the process
 * that is the thread's store buffer in TSO.  (Linux also orders the interrupted
 * threads among each other, and orders relaxed loads of an interrupted thread before
 * its plain accesses; the less a model relies on, the better.)
 *
 * The kernel looks at a futex word while it holds a lock of the futex: a thread that
 * waits after a wake knows what the waker knew.  The model relies on nothing else of
 * a futex, not even that the woken thread knows it.
 *
 * Not here: a load that sees a store which depends on that very load (load
 * buffering), which C11 allows.  Steps of a thread are taken in program order.
 *
 * The memory of the process always has the last message of each history.  A
 * plain write, as in the initialisation of a struct, begins a new history; a thread
 * that could still know the old history is in a race with the write.
 */
#include "engine.h"
#include "model_atomic.h"

#include <string.h>

#define LOCATIONS 255
#define MESSAGES (STEPS_MAX + LOCATIONS + 1)
#define CANDIDATES 64 /* bits of a mask */

struct view {
	int nr;                     /* locations; all others are at 0 */
	uint16_t oldest[LOCATIONS]; /* message */
	uint16_t clock[THREADS];
};

/* Message 0 stands for "none": older than all. */
static struct message {
	uint64_t value;
	int step;     /* of the store; -1: initial value     */
	bool claimed; /* a read-modify-write stands directly behind */
	struct view view;
} messages[MESSAGES];
static uint16_t position[MESSAGES]; /* in its history, from 1 */
static int nr_messages;

static struct location {
	char *addr;
	uint32_t size;
	int nr;
	uint16_t history[STEPS_MAX]; /* messages */
} locations[LOCATIONS];
static int nr_locations;

static struct knowledge {
	struct view now, later, before;
	struct view barrier; /* of its membarrier, under way */
	/* The last step: the view before, with `later`; the view that the step
	   sent, or NULL; the message that the step met, or 0, and where. */
	struct view knew;
	const struct view *told;
	int location, met;
	uint16_t read[LOCATIONS]; /* the message met last */
	bool fed_up[LOCATIONS];   /* spins: wants a newer message */
} threads[THREADS];

/* Of each location the last message that was stored sequentially consistently. */
static struct view consistent;

static struct wakes {
	const char *addr;
	struct view view;
} wakes[LOCATIONS];
static int nr_wakes;

static uint64_t modification_hash;

/* ---- views --------------------------------------------------------------- */

static void view_clear(struct view *v)
{
	memset(v->oldest, 0, (size_t)v->nr * sizeof(v->oldest[0]));
	memset(v->clock, 0, sizeof(v->clock));
	v->nr = 0;
}

static void view_add_locations(struct view *v, const struct view *other)
{
	if (v->nr < other->nr)
		v->nr = other->nr;
	for (int i = 0; i < other->nr; i++) {
		if (position[v->oldest[i]] < position[other->oldest[i]])
			v->oldest[i] = other->oldest[i];
	}
}

static void view_add(struct view *v, const struct view *other)
{
	view_add_locations(v, other);
	for (int i = 0; i < THREADS; i++) {
		if (v->clock[i] < other->clock[i])
			v->clock[i] = other->clock[i];
	}
}

static void view_see(struct view *v, int location, int message)
{
	if (v->nr <= location)
		v->nr = location + 1;
	if (position[v->oldest[location]] < position[message])
		v->oldest[location] = (uint16_t)message;
}

/* Each operation of a thread is a tick of its clock. */
static void tick(int thread)
{
	threads[thread].now.clock[thread] =
		(uint16_t)(engine.nr_by[thread] + 1);
}

bool history_happened_before(int thread, uint16_t time, int monitor)
{
	return threads[monitor].now.clock[thread] >= time;
}

/* ---- messages ------------------------------------------------------------ */

/* The sending step, the same in all executions that differ in order only. */
static uint64_t identity(int message)
{
	int step = messages[message].step;

	if (!message || step < 0)
		return (uint64_t)(message != 0);
	return (uint64_t)engine.steps[step].effect.process << 16 |
	       engine.steps[step].index | 1u << 24;
}

static uint64_t neighbours_hash(const struct location *l, int a, int b)
{
	uint64_t h = identity(a) << 32 ^ identity(b) ^ (uintptr_t)l->addr << 8;

	h *= 0x9e3779b97f4a7c15ull;
	return (h ^ h >> 31) * 0xd6e8feb86659fd93ull;
}

static int message_at(const struct location *l, int at)
{
	return at >= 0 && at < l->nr ? l->history[at] : 0;
}

static int message_new(uint64_t value, int step)
{
	struct message *m = &messages[++nr_messages];

	m->value = value;
	m->step = step;
	m->claimed = false;
	view_clear(&m->view);
	return nr_messages;
}

/* Puts @message behind the first @at messages. */
static void insert(struct location *l, int at, int message)
{
	int left = message_at(l, at - 1), right = message_at(l, at);

	for (int i = l->nr; i > at; i--) {
		l->history[i] = l->history[i - 1];
		position[l->history[i]]++;
	}
	l->history[at] = (uint16_t)message;
	position[message] = (uint16_t)(at + 1);
	l->nr++;
	if (engine.search != SEARCH_BOUNDED && engine.search != SEARCH_DELAYED)
		return;
	modification_hash += neighbours_hash(l, left, message) +
			     neighbours_hash(l, message, right) -
			     neighbours_hash(l, left, right);
}

static int location_new(const struct op *op)
{
	struct location *l = &locations[nr_locations];
	uint64_t value = 0;

	if (nr_locations == LOCATIONS)
		model_fail(MODEL_UNSTABLE, "more than %d locations", LOCATIONS);
	memcpy(&value, op->addr, op->size);
	l->addr = op->addr;
	l->size = op->size;
	l->nr = 0;
	insert(l, 0, message_new(value, -1));
	return nr_locations++;
}

static int location_of(const struct op *op)
{
	uint8_t *number = shadow_location(op->addr, op->size);
	int n;

	if (!*number)
		*number = (uint8_t)(location_new(op) + 1);
	n = *number - 1;
	if (locations[n].size != op->size)
		model_fail(MODEL_UNSTABLE,
			   "%s: one location accessed in two sizes", op->site);
	return n;
}

void history_reset(void)
{
	for (int i = 0; i < engine.nr_threads; i++) {
		struct knowledge *k = &threads[i];

		view_clear(&k->now);
		view_clear(&k->later);
		view_clear(&k->before);
		view_clear(&k->knew);
		memset(k->read, 0, (size_t)nr_locations * sizeof(k->read[0]));
		memset(k->fed_up, 0, (size_t)nr_locations);
		k->now.clock[i] = 1;
	}
	view_clear(&consistent);
	nr_messages = nr_locations = nr_wakes = 0;
	modification_hash = 0;
	shadow_reset();
}

uint64_t history_hash(void)
{
	return modification_hash;
}

/* ---- which messages an operation may meet -------------------------------- */

static bool acquires(int order)
{
	return order == MODEL_ORDER_ACQUIRE || order == MODEL_ORDER_ACQ_REL ||
	       order == MODEL_ORDER_SEQ_CST;
}

static bool releases(const struct op *op)
{
	return op->order == MODEL_ORDER_RELEASE ||
	       op->order == MODEL_ORDER_ACQ_REL ||
	       op->order == MODEL_ORDER_SEQ_CST;
}

static bool writes_behind(const struct op *op, const struct message *m)
{
	return op->kind == OP_STORE || op->kind == OP_RMW ||
	       (op->kind == OP_CAS && m->value == op->expected);
}

/* May @thread read message @m, or write directly behind it? */
static bool is_candidate(const struct op *op, const struct message *m)
{
	if (writes_behind(op, m) && m->claimed)
		return false;
	return !(machine_takes_lock(op) && m->value & 1);
}

static struct view *wakes_of(const char *addr)
{
	for (int i = 0; i < nr_wakes; i++) {
		if (wakes[i].addr == addr)
			return &wakes[i].view;
	}
	if (nr_wakes == LOCATIONS)
		model_fail(MODEL_UNSTABLE, "too many futexes");
	wakes[nr_wakes].addr = addr;
	view_clear(&wakes[nr_wakes].view);
	return &wakes[nr_wakes++].view;
}

static int oldest_position(int thread, const struct op *op, int location)
{
	int first = position[threads[thread].now.oldest[location]];
	const struct view *also = NULL;

	if (op->kind == OP_FUTEX_WAIT)
		also = wakes_of(op->addr);
	else if (op->order == MODEL_ORDER_SEQ_CST)
		also = &consistent;
	if (also && first < position[also->oldest[location]])
		first = position[also->oldest[location]];
	return first;
}

/* The position of the first message behind @m with another value. */
static int next_change(int location, int m)
{
	const struct location *l = &locations[location];
	int i = position[m];

	while (i < l->nr && messages[l->history[i]].value == messages[m].value)
		i++;
	return i + 1;
}

/* The newest message is number 0.  Returns the number of candidates. */
static int candidates(int thread, const struct op *op,
		      uint16_t found[CANDIDATES])
{
	int n = location_of(op), nr = 0;
	const struct location *l = &locations[n];
	const struct knowledge *k = &threads[thread];
	int first = oldest_position(thread, op, n);

	if (k->fed_up[n] && first < next_change(n, k->read[n]))
		first = next_change(n, k->read[n]);
	for (int i = l->nr; i > 0 && i >= first; i--) {
		int m = l->history[i - 1];

		if (!is_candidate(op, &messages[m]))
			continue;
		if (nr == CANDIDATES)
			model_fail(MODEL_UNSTABLE,
				   "%s: more than %d messages to read",
				   op->site, CANDIDATES);
		found[nr++] = (uint16_t)m;
	}
	return nr;
}

/* Is there a candidate that was not there before step @since? */
bool history_has_news(int thread, const struct op *op, int since)
{
	uint16_t found[CANDIDATES];
	int nr = candidates(thread, op, found);

	while (nr-- > 0) {
		if (messages[found[nr]].step >= since)
			return true;
	}
	return false;
}

/* One of the candidates; search.c goes through them. */
static int choose(int thread, const struct op *op, struct effect *effect)
{
	uint16_t found[CANDIDATES];
	int nr = candidates(thread, op, found), pick;
	int since = engine.steps[engine.depth].since[thread] - 1;
	uint64_t allowed = 0;

	for (int i = 0; i < nr; i++) {
		if (op->kind == OP_STORE || engine.redo ||
		    messages[found[i]].step >= since)
			allowed |= 1ull << i;
	}
	pick = machine_pick_of(allowed);
	if (pick >= nr)
		model_fail(MODEL_UNSTABLE, "the schedule does not fit");
	if (pick > 0)
		effect->flags |= STALE;
	return found[pick];
}

/* ---- operations ---------------------------------------------------------- */

static void read_message(int thread, const struct op *op, int location, int m)
{
	struct knowledge *k = &threads[thread];
	bool fails = op->kind == OP_CAS && messages[m].value != op->expected;

	view_see(&k->now, location, m);
	k->read[location] = (uint16_t)m;
	k->fed_up[location] = false;
	view_add(&k->later, &messages[m].view);
	if (acquires(fails ? op->failure : op->order))
		view_add(&k->now, &messages[m].view);
	engine.steps[engine.depth].read_from = messages[m].step;
}

/* Stores @value behind message @behind, which was @read or not. */
static void write_message(int thread, const struct op *op,
			  struct effect *effect, int behind, bool read,
			  uint64_t value)
{
	struct knowledge *k = &threads[thread];
	int n = location_of(op);
	struct location *l = &locations[n];
	int m = message_new(0, engine.depth);

	memcpy(&messages[m].value, &value, op->size);
	/* identity() needs it before the step is over. */
	engine.steps[engine.depth].index =
		(uint16_t)(engine.nr_by[effect->process] + 1);
	insert(l, position[behind], m);
	view_see(&k->now, n, m);
	k->read[n] = (uint16_t)m;
	k->fed_up[n] = false;
	view_add(&messages[m].view, releases(op) ? &k->now : &k->before);
	view_see(&messages[m].view, n, m);
	if (read) {
		messages[behind].claimed = true;
		view_add(&messages[m].view, &messages[behind].view);
	}
	if (op->order == MODEL_ORDER_SEQ_CST)
		view_see(&consistent, n, m);
	k->told = &messages[m].view;
	if (l->history[l->nr - 1] == m)
		machine_write(effect, value, op->lock);
}

uint64_t history_access(int thread, const struct op *op, struct effect *effect)
{
	int n = location_of(op), m;
	uint64_t old;

	tick(thread);
	shadow_atomic(op);
	if (op->kind == OP_FUTEX_WAIT)
		view_add_locations(&threads[thread].now, wakes_of(op->addr));
	m = choose(thread, op, effect);
	old = messages[m].value;
	threads[thread].location = n;
	threads[thread].met = m;
	if (op->kind != OP_STORE)
		read_message(thread, op, n, m);
	if (!writes_behind(op, &messages[m]))
		effect->flags &= (uint16_t) ~(WRITES | TOTAL_WRITES);
	else
		write_message(thread, op, effect, m, op->kind != OP_STORE,
			      machine_rmw_value(op, old));
	return op->kind == OP_STORE ? op->value : old;
}

/* ---- spinning ------------------------------------------------------------ */

bool history_may_look(int thread, const struct op *op)
{
	int n = location_of(op);
	int m = threads[thread].read[n];

	return !m || next_change(n, m) <= locations[n].nr;
}

/* The step that first sent a value that differs from the known value, or -1. */
int history_news_from(int thread, const struct op *op)
{
	int n = location_of(op), m = threads[thread].read[n], first = -1;
	const struct location *l = &locations[n];

	if (!m)
		return -1;
	for (int i = next_change(n, m) - 1; i < l->nr; i++) {
		const struct message *news = &messages[l->history[i]];

		if (news->value != messages[m].value &&
		    (first < 0 || news->step < first))
			first = news->step;
	}
	return first;
}

void history_look(int thread, const struct op *op)
{
	int n = location_of(op);

	threads[thread].fed_up[n] = threads[thread].read[n] != 0;
}

/* ---- barriers and futexes ------------------------------------------------ */

static void full_barrier(int thread)
{
	struct knowledge *k = &threads[thread];

	tick(thread);
	view_add(&k->now, &k->later);
	view_add(&k->before, &k->now);
}

void history_barrier_start(int thread)
{
	struct knowledge *k = &threads[thread];

	full_barrier(thread);
	view_clear(&k->barrier);
	view_add_locations(&k->barrier, &k->now);
	k->told = &k->barrier;
}

/* @thread is about to take a step that is no interrupt. */
void history_step(int thread)
{
	struct knowledge *k = &threads[thread];

	view_clear(&k->knew);
	view_add_locations(&k->knew, &k->now);
	view_add_locations(&k->knew, &k->later);
	k->told = NULL;
	k->met = 0;
}

static bool view_has(const struct view *v, const struct view *other)
{
	for (int i = 0; i < other->nr; i++) {
		int has = i < v->nr ? position[v->oldest[i]] : 0;

		if (has < position[other->oldest[i]])
			return false;
	}
	return true;
}

static bool is_older(int message, int location, const struct view *v)
{
	return location < v->nr &&
	       position[message] < position[v->oldest[location]];
}

/*
 * Could @thread have been interrupted before its last step as well, without more
 * knowledge for any thread?  Then the step would have met the same message and sent
 * the same view, and the caller would have learnt less.
 */
bool history_is_late(int thread, int caller)
{
	const struct knowledge *k = &threads[thread];
	const struct view *barrier = &threads[caller].barrier;

	if (k->met && (is_older(k->met, k->location, barrier) ||
		       is_older(k->met, k->location, &k->knew)))
		return false;
	return !k->told ||
	       (view_has(k->told, barrier) && view_has(k->told, &k->knew));
}

/* @thread is interrupted for the membarrier of @caller. */
void history_interrupt(int thread, int caller)
{
	struct knowledge *k = &threads[thread];

	tick(thread);
	view_add_locations(&k->now, &k->later);
	view_add_locations(&k->before, &k->now);
	view_add_locations(&threads[caller].later, &k->now);
	view_add_locations(&k->now, &threads[caller].barrier);
	view_add_locations(&k->later, &threads[caller].barrier);
	view_add_locations(&k->before, &threads[caller].barrier);
}

void history_barrier_end(int thread)
{
	full_barrier(thread);
}

void history_futex_wake(int thread, const char *addr)
{
	struct view *v = wakes_of(addr);

	tick(thread);
	view_add_locations(&threads[thread].now, v);
	view_add_locations(v, &threads[thread].now);
	threads[thread].told = &threads[thread].now;
}
