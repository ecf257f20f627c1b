/* SPDX-License-Identifier: MIT */
/*
 * machine.c - the machine of the model threads.
 *
 * Memory is the memory of this program.  In TSO a store goes into the thread's
 * buffer; the buffer is a separate process that writes the oldest store to memory.
 * A load takes the youngest store to the address from the thread's buffer, or else
 * memory.  Read-modify-writes and system calls wait until the buffer is empty.
 *
 * membarrier() interrupts every other processor at some moment of the call, and each
 * interrupt drains the buffer of the processor.  So the call may return as soon as
 * each buffer was empty at some moment since the start; the buffers need not all be
 * empty together.
 *
 * In RA, memory is histories of messages and views on them: history.c.
 *
 * An enabled step stays enabled, except a step that takes a lock that was declared
 * with model_lock_word().  order.c relies on this.
 */
#include "engine.h"
#include "model_atomic.h"

#include <errno.h>
#include <string.h>

#define START_OF_TIME 1000000000u

static uint64_t memory_read(const char *addr, uint32_t size)
{
	uint64_t value = 0;

	memcpy(&value, addr, size);
	return value;
}

/* Notes the change in @effect. */
void machine_write(struct effect *effect, uint64_t value, bool lock)
{
	uint64_t old = memory_read(effect->addr, effect->size);

	memcpy(effect->addr, &value, effect->size);
	value = memory_read(effect->addr, effect->size);
	if (old != value)
		effect->flags |= CHANGES;
	if (!lock || !((old ^ value) & 1))
		return;
	if (!(value & 1))
		effect->lock = LOCK_RELEASED;
	else
		effect->lock = effect->kind == OP_RMW ? LOCK_ACQUIRED
						      : LOCK_SEIZED;
}

bool machine_is_lock(const char *addr)
{
	if (engine.no_locks)
		return false;
	for (int i = 0; i < engine.nr_locks; i++) {
		if (engine.locks[i] == addr)
			return true;
	}
	return false;
}

void model_lock_word(const volatile void *p)
{
	if (engine.nr_locks == LOCKS_MAX)
		model_fail(MODEL_UNSTABLE, "too many locks");
	engine.locks[engine.nr_locks++] = (const char *)(uintptr_t)p;
}

/* Is @op an attempt to take a declared lock? */
bool machine_takes_lock(const struct op *op)
{
	return op->lock && op->kind == OP_RMW &&
	       (op->how == MODEL_XCHG || op->how == MODEL_OR) && op->value & 1;
}

static bool lock_blocks(const struct op *op)
{
	return machine_takes_lock(op) && memory_read(op->addr, op->size) & 1;
}

static uint64_t truncate_to(uint32_t size, uint64_t value)
{
	return size == 8 ? value : value & ((1ull << (8 * size)) - 1);
}

static bool buffer_empty(const struct thread *t)
{
	return t->first == t->last;
}

void machine_reset(void)
{
	engine.barriers = 0;
	engine.executing = false;
	engine.nr_locks = 0;
	engine.now = START_OF_TIME;
	engine.last_thread = -1;
	engine.depth = 0;
	mutate_reset();
	memset(engine.nr_by, 0, sizeof(engine.nr_by));
	memset(engine.last_by, -1, sizeof(engine.last_by));
	shadow_forget_ledgers();
	if (engine.mode == MODEL_RA)
		history_reset();
	for (int i = 0; i < engine.nr_threads; i++) {
		struct thread *t = &engine.threads[i];

		t->finished = t->queued = t->woken = false;
		t->first = t->last = 0;
		t->unseen = 0;
	}
}

/* The threads whose membarrier has not interrupted @thread yet. */
static uint32_t interrupts_for(int thread)
{
	uint32_t callers = 0;

	if (!engine.barriers)
		return 0;
	for (int b = 0; b < engine.nr_threads; b++) {
		if (engine.threads[b].unseen & 1u << thread)
			callers |= 1u << b;
	}
	return callers;
}

bool machine_enabled(int process)
{
	const struct thread *t = &engine.threads[process & (BUFFER - 1)];

	if (process >= BUFFER)
		return engine.mode == MODEL_RA
			       ? interrupts_for(process - BUFFER) != 0
			       : !buffer_empty(t);
	switch ((enum op_kind)t->op.kind) {
	case OP_STORE:
		return t->last - t->first < (unsigned)engine.buffer;
	case OP_RMW:
		return buffer_empty(t) && !lock_blocks(&t->op);
	case OP_CAS:
	case OP_FUTEX_WAIT:
	case OP_FUTEX_WAKE:
	case OP_BARRIER_START:
		return buffer_empty(t);
	case OP_SPIN:
		if (engine.mode == MODEL_RA)
			return history_may_look(process, &t->op);
		return t->may_look;
	case OP_FUTEX_UNBLOCK:
		return t->woken || t->op.deadline != UINT64_MAX;
	case OP_BARRIER_END:
		return t->unseen == 0;
	case OP_EXIT:
		return false;
	default:
		return true;
	}
}

/* In RA, races are found without exploring both orders. */
static uint16_t pending_flags_ra(const struct op *op)
{
	bool total = op->order == MODEL_ORDER_SEQ_CST;
	uint16_t reads = READS | (total ? TOTAL_READS : 0);
	uint16_t writes = WRITES | (total ? TOTAL_WRITES : 0);

	switch ((enum op_kind)op->kind) {
	case OP_LOAD:
		return reads;
	case OP_STORE:
		return writes;
	case OP_RMW:
	case OP_CAS:
		return reads | writes;
	default:
		return 0;
	}
}

static uint16_t pending_flags(const struct op *op)
{
	if (engine.mode == MODEL_RA &&
	    (op->kind <= OP_CAS || op->kind == OP_ACCESS ||
	     op->kind == OP_FREE))
		return pending_flags_ra(op);
	switch ((enum op_kind)op->kind) {
	case OP_LOAD:
		return READS;
	case OP_STORE:
		if (engine.mode == MODEL_SC)
			return WRITES;
		return engine.barriers ? BARRIER_WATCHED : 0;
	case OP_CAS:
		/* The CAS would fail now, and other reads do not change that. */
		if (memory_read(op->addr, op->size) != op->expected)
			return READS;
		return READS | WRITES;
	case OP_FLUSH:
	case OP_RMW:
	case OP_ACCESS:
	case OP_FREE:
		return READS | WRITES;
	case OP_FUTEX_WAIT:
		return READS | QUEUE_READS;
	case OP_FUTEX_UNBLOCK:
		return op->deadline == UINT64_MAX ? 0
						  : QUEUE_READS | TIME_WRITES;
	case OP_FUTEX_WAKE:
		return QUEUE_WRITES;
	case OP_NOW:
		return TIME_READS;
	case OP_ADVANCE:
		return TIME_READS | TIME_WRITES;
	default:
		return 0;
	}
}

struct effect machine_effect(int process)
{
	struct thread *t = &engine.threads[process & (BUFFER - 1)];
	struct effect effect = { .process = (uint8_t)process };

	if (process >= BUFFER && engine.mode == MODEL_RA) {
		effect.kind = OP_INTERRUPT;
	} else if (process >= BUFFER) {
		const struct store *s = &t->buffer[t->first % STORES_MAX];

		effect.kind = OP_FLUSH;
		effect.addr = s->addr;
		effect.size = s->size;
		effect.flags = WRITES;
	} else {
		effect.kind = t->op.kind;
		effect.addr = t->op.addr;
		effect.size = t->op.size;
		effect.flags = pending_flags(&t->op);
	}
	return effect;
}

/* Thread @i has an empty buffer now, because of this step. */
static void barriers_see(int i)
{
	if (!engine.barriers)
		return;
	for (int b = 0; b < engine.nr_threads; b++) {
		struct thread *t = &engine.threads[b];

		if (t->unseen & 1u << i)
			t->seen[i] = engine.depth;
		t->unseen &= ~(1u << i);
	}
}

/* Is @addr on the stack of a model thread, below the part in use? */
static bool frame_is_gone(const char *addr)
{
	int owner = strand_of(addr);

	return owner >= 0 && addr < engine.threads[owner].sp;
}

void machine_check_alive(const char *addr)
{
	heap_check(addr);
	if (strand_of(addr) != engine.current && frame_is_gone(addr))
		model_fail(MODEL_USE_AFTER_FREE, "access to a dead frame");
}

static void check_alive(const struct op *op)
{
	if (!op->addr)
		return;
	heap_check(op->addr);
	/* Waking needs the address only. */
	if (op->kind != OP_FUTEX_WAKE && frame_is_gone(op->addr))
		model_fail(MODEL_USE_AFTER_FREE, "access to a dead frame");
}

static void flush(int thread)
{
	struct thread *t = &engine.threads[thread];
	struct store *s = &t->buffer[t->first % STORES_MAX];
	struct step *step = &engine.steps[engine.depth];

	engine.executing = true;
	step->effect = machine_effect(thread + BUFFER);
	step->cause = s->issued;
	step->read_from = -1;
	t->flushed[t->first % STORES_MAX] = engine.depth;
	heap_check_flush(s->addr, thread);
	/* The frame may be gone: the stack is plain data now. */
	if (!frame_is_gone(s->addr))
		machine_write(&step->effect, s->value, s->lock);
	else if (strand_of(s->addr) != thread)
		model_fail(MODEL_USE_AFTER_FREE, "store to a dead frame");
	t->first++;
	if (buffer_empty(t))
		barriers_see(thread);
	engine.executing = false;
	if (engine.tracing) {
		struct op op = { .kind = OP_FLUSH,
				 .addr = s->addr,
				 .size = s->size,
				 .value = s->value,
				 .site = s->site };

		report_step(step, &op, s->value);
	}
}

static uint64_t read_through_buffer(struct thread *t, const struct op *op)
{
	for (unsigned i = t->last; i != t->first; i--) {
		const struct store *s = &t->buffer[(i - 1) % STORES_MAX];

		if (s->addr == op->addr && s->size == op->size)
			return s->value;
		if (s->addr < op->addr + op->size &&
		    op->addr < s->addr + s->size)
			model_fail(MODEL_UNSTABLE,
				   "%s: one location accessed in two sizes",
				   op->site);
	}
	return memory_read(op->addr, op->size);
}

static void buffer_append(struct thread *t, const struct op *op)
{
	struct store *s = &t->buffer[t->last % STORES_MAX];

	s->addr = op->addr;
	s->size = op->size;
	s->site = op->site;
	s->value = truncate_to(op->size, op->value);
	s->issued = engine.depth;
	s->lock = op->lock;
	t->last++;
}

/* The value that @op stores in place of @old. */
uint64_t machine_rmw_value(const struct op *op, uint64_t old)
{
	if (op->kind != OP_RMW)
		return op->value;
	switch ((enum model_rmw)op->how) {
	case MODEL_ADD:
		return old + op->value;
	case MODEL_OR:
		return old | op->value;
	case MODEL_AND:
		return old & op->value;
	default:
		return op->value;
	}
}

static uint64_t apply_rmw(const struct op *op, struct effect *effect)
{
	uint64_t old = memory_read(op->addr, op->size);

	machine_write(effect, machine_rmw_value(op, old), op->lock);
	return old;
}

/* A number below @choices; search.c goes through all of them. */
int machine_pick(int choices)
{
	struct step *s = &engine.steps[engine.depth];

	s->choices = (uint16_t)choices;
	if (engine.search == SEARCH_RANDOM && engine.depth >= engine.replay)
		s->choice = (uint16_t)priority_choice(choices);
	return s->choice;
}

int machine_pick_of(uint64_t allowed)
{
	struct step *s = &engine.steps[engine.depth];

	/* At random nothing was explored before: all are allowed. */
	if (engine.search == SEARCH_RANDOM && engine.depth >= engine.replay)
		s->choice = (uint16_t)priority_choice(
			__builtin_popcountll(allowed));
	if (!(allowed >> s->choice))
		model_fail(MODEL_UNSTABLE, "the schedule does not fit");
	while (!(allowed >> s->choice & 1))
		s->choice++;
	s->choices = (uint16_t)(64 - __builtin_clzll(allowed));
	return s->choice;
}

/* Could the interrupt have come before the last step of @thread, with the only
   effect that less is known?  See order.c. */
static bool came_late(int thread, int caller)
{
	int last = engine.last_by[thread];

	return last >= 0 && last > engine.last_by[thread + BUFFER] &&
	       !order_needs(engine.last_by[caller], last) &&
	       history_is_late(thread, caller);
}

/* @thread is interrupted for a membarrier that is under way.  True: the interrupt
   came too late to be of interest. */
static bool interrupt(int thread)
{
	struct step *step = &engine.steps[engine.depth];
	uint32_t callers = interrupts_for(thread);
	struct op op = { .kind = OP_INTERRUPT,
			 .site = "os\0interrupted by a membarrier\0" };
	bool late;
	int caller;

	engine.executing = true;
	step->effect = machine_effect(thread + BUFFER);
	for (int n = machine_pick(__builtin_popcount(callers)); n > 0; n--)
		callers &= callers - 1;
	caller = __builtin_ctz(callers);
	step->cause = engine.last_by[caller];
	step->read_from = -1;
	engine.threads[caller].seen[thread] = engine.depth;
	engine.threads[caller].unseen &= ~(1u << thread);
	late = came_late(thread, caller);
	history_interrupt(thread, caller);
	engine.executing = false;
	if (engine.tracing)
		report_step(step, &op, 0);
	return late;
}

bool machine_background(int thread)
{
	if (engine.mode == MODEL_RA)
		return interrupt(thread);
	flush(thread);
	return false;
}

static void barrier_start(struct thread *t)
{
	bool ra = engine.mode == MODEL_RA;

	t->unseen = 0;
	for (int i = 0; i < engine.nr_threads; i++) {
		const struct thread *other = &engine.threads[i];

		t->seen[i] = -1;
		if (ra ? other != t : !buffer_empty(other))
			t->unseen |= 1u << i;
	}
	engine.barriers++;
	if (ra)
		history_barrier_start(engine.current);
}

/* A location has changed: threads that spin there may look again. */
static void spinners_see(const struct effect *write)
{
	int writer = write->process & (BUFFER - 1);

	for (int i = 0; i < engine.nr_threads; i++) {
		struct thread *t = &engine.threads[i];

		if (i == writer || t->op.kind != OP_SPIN || t->may_look ||
		    t->finished || t->op.addr != write->addr)
			continue;
		t->may_look = true;
		t->cause = engine.depth;
	}
}

/* The operations that differ in RA.  False: @t's operation does not. */
static bool execute_ra(struct thread *t, struct effect *effect,
		       uint64_t *result)
{
	const struct op *op = &t->op;
	int thread = engine.current;

	switch ((enum op_kind)op->kind) {
	case OP_LOAD:
	case OP_STORE:
	case OP_RMW:
	case OP_CAS:
		*result = history_access(thread, op, effect);
		return true;
	case OP_FUTEX_WAIT:
		t->queued = history_access(thread, op, effect) == op->value;
		t->woken = false;
		if (!t->queued)
			effect->flags &= (uint16_t)~QUEUE_READS;
		*result = t->queued;
		return true;
	case OP_SPIN:
		history_look(thread, op);
		*result = 0;
		return true;
	case OP_FUTEX_WAKE:
		history_futex_wake(thread, op->addr);
		return false;
	case OP_BARRIER_END:
		history_barrier_end(thread);
		return false;
	case OP_FREE:
		shadow_plain(op->addr, op->size, true, NULL);
		return false;
	default:
		return false;
	}
}

/* The operation of @t, now.  Narrows @effect to the actual effect. */
static uint64_t execute(struct thread *t, struct effect *effect)
{
	struct op *op = &t->op;
	uint64_t old;

	if (engine.mode == MODEL_RA && execute_ra(t, effect, &old))
		return old;
	switch ((enum op_kind)op->kind) {
	case OP_LOAD:
		return read_through_buffer(t, op);
	case OP_STORE:
		if (engine.mode == MODEL_TSO)
			buffer_append(t, op);
		else
			machine_write(effect, op->value, op->lock);
		return op->value;
	case OP_RMW:
		return apply_rmw(op, effect);
	case OP_CAS:
		old = memory_read(op->addr, op->size);
		if (old == op->expected)
			machine_write(effect, op->value, op->lock);
		return old;
	case OP_FUTEX_WAIT:
		t->queued = memory_read(op->addr, op->size) == op->value;
		t->woken = false;
		if (!t->queued)
			effect->flags = READS;
		return t->queued;
	case OP_FUTEX_UNBLOCK:
		return futex_unblock(t, effect);
	case OP_FUTEX_WAKE:
		return futex_wake(op->addr, op->value);
	case OP_BARRIER_START:
		barrier_start(t);
		return 0;
	case OP_BARRIER_END:
		engine.barriers--;
		return 0;
	case OP_NOW:
		return engine.now;
	case OP_ADVANCE:
		engine.now += op->value;
		return engine.now;
	case OP_CHOOSE:
		return (uint64_t)machine_pick((int)op->value);
	case OP_FREE:
		heap_free(op->addr, engine.current);
		return 0;
	default:
		return 0;
	}
}

/* The step without which @t could not take its next step. */
static int cause_of(const struct thread *t, int thread)
{
	unsigned int before;

	switch ((enum op_kind)t->op.kind) {
	case OP_STORE:
		before = t->last - (unsigned)engine.buffer;
		if (engine.mode != MODEL_TSO || (int)before < 0)
			return -1;
		return t->flushed[before % STORES_MAX];
	case OP_RMW:
	case OP_CAS:
	case OP_FUTEX_WAIT:
	case OP_FUTEX_WAKE:
	case OP_BARRIER_START:
		if (engine.mode == MODEL_RA)
			return -1;
		return engine.last_by[thread + BUFFER];
	case OP_SPIN:
		if (engine.mode == MODEL_RA)
			return history_news_from(thread, &t->op);
		return t->cause;
	case OP_FUTEX_UNBLOCK:
		return t->op.deadline == UINT64_MAX ? t->cause : -1;
	default:
		return -1;
	}
}

void machine_execute(int thread)
{
	struct thread *t = &engine.threads[thread];
	struct step *step = &engine.steps[engine.depth];

	engine.executing = true;
	step->effect = machine_effect(thread);
	step->cause = cause_of(t, thread);
	step->read_from = -1;
	check_alive(&t->op);
	if (engine.mode == MODEL_RA)
		history_step(thread);
	t->result = execute(t, &step->effect);
	engine.executing = false;
	if (engine.tracing)
		report_step(step, &t->op, t->result);
}

void machine_wrote(const struct effect *effect)
{
	if (effect->flags & CHANGES && engine.mode != MODEL_RA)
		spinners_see(effect);
}

/* Did another thread change the location since the last access of this thread? */
static void spin_post(int id)
{
	struct thread *t = &engine.threads[id];

	t->may_look = false;
	t->cause = -1;
	for (int i = engine.depth - 1; i >= 0; i--) {
		const struct effect *e = &engine.steps[i].effect;

		if (e->addr != t->op.addr || e->kind == OP_SPIN)
			continue;
		if (e->process == id)
			return;
		if ((e->process & (BUFFER - 1)) != id && e->flags & CHANGES) {
			t->may_look = true;
			t->cause = i;
		}
	}
	/* The thread never looked. */
	t->may_look = true;
}

/* In setup and finish no other thread runs: act on memory at once. */
static uint64_t execute_alone(const struct op *op)
{
	static struct thread alone;
	struct effect effect = { .addr = op->addr, .size = op->size };
	enum model_mode mode = engine.mode;
	uint64_t result;

	if (op->kind == OP_FUTEX_WAIT || op->kind == OP_CHOOSE ||
	    op->kind == OP_BARRIER_START || op->kind == OP_BARRIER_END)
		model_fail(MODEL_UNSTABLE, "not possible outside threads");
	if (op->kind == OP_SPIN)
		model_fail(MODEL_DEADLOCK, "spins in setup or finish");
	alone.op = *op;
	engine.mode = MODEL_SC;
	result = execute(&alone, &effect);
	engine.mode = mode;
	return result;
}

uint64_t machine_take(const struct op *op)
{
	int id = engine.current;
	struct thread *t;

	if (id < 0)
		return execute_alone(op);
	t = &engine.threads[id];
	t->op = *op;
	t->op.lock = machine_is_lock(op->addr);
	t->sp = __builtin_frame_address(0);
	t->cause = -1;
	if (op->kind == OP_SPIN && engine.mode != MODEL_RA)
		spin_post(id);
	search_schedule(id);
	return t->result;
}

uint64_t machine_post(const struct op *op)
{
	return engine.mutating ? mutate_post(op) : machine_take(op);
}
