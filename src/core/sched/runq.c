/* SPDX-License-Identifier: MIT */
/*
 * runq.c - see runq.h.
 *
 * A task does not know its runtime, and the setter of its level may belong to
 * another runtime, or to no runtime.  So a queued task carries the tag of the
 * queue, and queues can be found by tag.  There are 255 tags.  If a runtime has no
 * tag, a task changes its level when it is queued the next time.
 */
#include "core/sched/runq.h"

#include "os/at_fork.h"

struct runqs sley__runqs;

static void lock_tags(void)
{
	spin_lock(&sley__runqs.lock);
}

static void unlock_tags(void)
{
	spin_unlock(&sley__runqs.lock);
}

/* Stands for queues whose locks may never be free. */
static struct runq lost;

static void lose_queues(void)
{
	struct runqs *all = &sley__runqs;

	for (unsigned int tag = 1; tag <= all->last; tag++) {
		if (all->by_tag[tag])
			all->by_tag[tag] = &lost;
	}
}

FORK_PART(FORK_RUNQS, .lock = lock_tags, .unlock = unlock_tags,
	  .renew = lose_queues);

void runq_init(struct runq *runq)
{
	struct runqs *all = &sley__runqs;

	*runq = (struct runq){ .tag = RUNQ_NO_TAG };
	spin_lock(&all->lock);
	for (unsigned int tag = 1; tag < array_size(all->by_tag); tag++) {
		if (all->by_tag[tag])
			continue;
		all->by_tag[tag] = runq;
		runq->tag = tag;
		if (tag > all->last)
			all->last = tag;
		break;
	}
	spin_unlock(&all->lock);
}

void runq_fini(struct runq *runq)
{
	struct runqs *all = &sley__runqs;

	if (runq->tag == RUNQ_NO_TAG)
		return;
	spin_lock(&all->lock);
	all->by_tag[runq->tag] = NULL;
	spin_unlock(&all->lock);
}

static void publish_hint(struct runq *runq)
{
	const uint64_t first = (2ull << LEVEL_DEFAULT) - 1;
	uint64_t bitmap = runq->levels.bitmap;
	uint64_t spill = runq->spill.first != NULL;
	uint64_t hint = bitmap | spill << LEVEL_DEFAULT;
	uint32_t bits = (bitmap & first ? RUNQ_FIRST : 0) |
			(runq->looks ? RUNQ_LOOKS : 0);

	/* relaxed: Q1 is a hint. */
	store_relaxed(&runq->hint, hint);
	/* relaxed: Q1 is a hint. */
	store_relaxed(&runq->has_first, bits);
	if (unlikely(runq->mirror))
		/* relaxed: the same for others. */
		store_relaxed(runq->mirror, hint);
}

void runq_set_looks(struct runq *runq, bool looks)
{
	spin_lock(&runq->lock);
	runq->looks = looks;
	publish_hint(runq);
	spin_unlock(&runq->lock);
}

void runq_set_mirror(struct runq *runq, uint64_t *mirror)
{
	spin_lock(&runq->lock);
	runq->mirror = mirror;
	publish_hint(runq);
	spin_unlock(&runq->lock);
}

static void count(uint32_t *counter, uint32_t n)
{
	/* relaxed: under the lock; read as a hint. */
	store_relaxed(counter, load_relaxed(counter) + n);
}

static void push_locked(struct runq *runq, struct sley_task *task)
{
	unsigned int level = task_level(task);

	levels_push(&runq->levels, task, level);
	count(&runq->pushed[level], 1);
	task_mark_queued(task, level, runq->tag);
}

/* By its level, too, if that is not the default. */
static void spill_locked(struct runq *runq, struct sley_task *task)
{
	if (unlikely(task_level(task) != LEVEL_DEFAULT)) {
		push_locked(runq, task);
		return;
	}
	fifo_push(&runq->spill, task);
	count(&runq->pushed[RUNQ_SPILL], 1);
	task_mark_queued(task, LEVEL_DEFAULT, runq->tag);
	task_mark_spilled(task);
}

static struct sley_task *take_locked(struct runq *runq, unsigned int level)
{
	struct sley_task *task = levels_take(&runq->levels, level);

	task_clear_queued(task);
	return task;
}

void runq_push(struct runq *runq, struct sley_task *task)
{
	spin_lock(&runq->lock);
	push_locked(runq, task);
	publish_hint(runq);
	spin_unlock(&runq->lock);
}

void runq_push_chain(struct runq *runq, struct sley_task *chain)
{
	spin_lock(&runq->lock);
	while (chain) {
		struct sley_task *task = chain;

		chain = chain->next;
		push_locked(runq, task);
	}
	publish_hint(runq);
	spin_unlock(&runq->lock);
}

void runq_spill_chain(struct runq *runq, struct sley_task *chain)
{
	spin_lock(&runq->lock);
	while (chain) {
		struct sley_task *task = chain;

		chain = chain->next;
		spill_locked(runq, task);
	}
	publish_hint(runq);
	spin_unlock(&runq->lock);
}

struct sley_task *runq_take(struct runq *runq, unsigned int level)
{
	struct sley_task *task = NULL;

	(void)runq_take_batch(runq, level, &task, 1);
	return task;
}

unsigned int runq_take_batch(struct runq *runq, unsigned int level,
			     struct sley_task **out, unsigned int max)
{
	unsigned int nr = 0;

	spin_lock(&runq->lock);
	while (nr < max && (runq->levels.bitmap & 1ull << level))
		out[nr++] = take_locked(runq, level);
	count(&runq->taken[level], nr);
	publish_hint(runq);
	spin_unlock(&runq->lock);
	return nr;
}

unsigned int runq_take_spill(struct runq *runq, struct sley_task **out,
			     unsigned int max)
{
	unsigned int nr = 0;

	spin_lock(&runq->lock);
	while (nr < max && runq->spill.first) {
		out[nr] = fifo_take(&runq->spill);
		task_clear_queued(out[nr++]);
	}
	count(&runq->taken[RUNQ_SPILL], nr);
	publish_hint(runq);
	spin_unlock(&runq->lock);
	return nr;
}

static bool move_locked(struct runq *runq, struct sley_task *task,
			unsigned int level)
{
	bool spilled = task_is_spilled(task);
	unsigned int old = spilled ? RUNQ_SPILL : task_queued_level(task);

	if (task_queued_tag(task) != runq->tag)
		return false;
	if (spilled)
		fifo_remove(&runq->spill, task);
	else
		levels_remove(&runq->levels, task, old);
	/*
	 * As if @task had never come: a task that waits for a place behind @task
	 * waits for one more task.
	 */
	count(&runq->pushed[old], (uint32_t)-1);
	task_clear_queued(task);
	task_set_level(task, level);
	(spilled ? spill_locked : push_locked)(runq, task);
	publish_hint(runq);
	return true;
}

bool runq_move(struct sley_task *task, unsigned int level)
{
	struct runqs *all = &sley__runqs;
	unsigned int tag = task_queued_tag(task);
	bool moved = false;
	struct runq *runq;

	if (tag == RUNQ_NO_TAG)
		return false;
	/* No queue is freed meanwhile. */
	spin_lock(&all->lock);
	runq = all->by_tag[tag];
	if (runq == &lost) {
		moved = true; /* no worker ever takes the task */
	} else if (runq) {
		spin_lock(&runq->lock);
		moved = move_locked(runq, task, level);
		spin_unlock(&runq->lock);
	}
	spin_unlock(&all->lock);
	return moved;
}

void runq_settle(void)
{
	struct runqs *all = &sley__runqs;

	spin_lock(&all->lock);
	for (unsigned int tag = 1; tag <= all->last; tag++) {
		struct runq *runq = all->by_tag[tag];

		if (!runq || runq == &lost)
			continue;
		spin_lock(&runq->lock);
		spin_unlock(&runq->lock);
	}
	spin_unlock(&all->lock);
}
