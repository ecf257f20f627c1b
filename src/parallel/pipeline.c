/* SPDX-License-Identifier: MIT */
/*
 * pipeline.c - items go through stages, several of them at a time.
 *
 * Two things are apart: *tokens*, each of which holds an item that is under
 * way, and *runners*, tasks that carry tokens.  So back-pressure is the number of
 * tokens, and a token that must wait costs no fiber: its runner puts the token down
 * and takes other work.
 *
 * Runner.  Takes a ready token, or else makes an item with a free token, and
 * carries the item stage by stage, until the item is through or has to wait.  A
 * runner ends when there is nothing to take.  A runner, or a thread of the blocking
 * pool, that leaves something to take sees to it that one more runner is *pending*:
 * spawned, not yet started.  The pending runner starts when a worker is idle, or
 * when the runner that spawned it blocks in a stage; not earlier.  So on busy
 * workers no runner is spawned, woken or switched to.
 *
 * Before each ordered and each serial stage is a turnstile (turnstile.h).  Leaving
 * the stage admits the next token and makes that token ready.  An item that ended
 * early, or was dropped, still passes all ordered stages: later items wait for it.
 *
 * That no token waits for ever: of the tokens that are put down, the token with the
 * smallest number waits for a token that is carried or ready.  A runner with a
 * token looks for more before it ends.  So this also holds where no runner can be
 * spawned.
 *
 * A stage with SLEY_STAGE_BLOCKS is called by a thread of the blocking pool.  The
 * runner waits for that thread, and does not count as running meanwhile, so that
 * another runner may take its place.  The thread puts the token down behind the
 * stage before the runner hears of the end: a runner resumes on its own worker,
 * which may be busy, and the item shall not wait for that.
 *
 * Runners are members of a scope that the caller opens, so a cancel that comes
 * to the caller from anywhere cuts short a runner that blocks in a stage, and so
 * does a stage that fails.  The short form, which no cancel ends, has no scope.
 *
 * All state is under spinlocks, which are held for a few instructions and never
 * while a stage runs; there is no order here to prove, and no wait but the join.
 *
 * A runner's task is spawned again and again, but only when its last run has
 * COMPLETED.  Runners that have ended and are not yet COMPLETED are each on a worker
 * of its own, so with a spare runner for each worker there is always a runner to be
 * had.  Where a stage blocks, each token may have a second runner, which waits for
 * the pool.
 *
 * Rejected: a fiber for each token, which waits for its turn.  With items of a
 * microsecond each wait and its wake-up on another worker cost as much again.
 * A task for each item and stage: a spawn each, and memory for the tasks.
 */
#include "core/task/countdown.h"
#include "core/task/spawn.h"
#include "core/wait/wait.h"
#include "parallel/how.h"
#include "parallel/pipeline.h"
#include "parallel/turnstile.h"

#include <sley/blocking.h>

#include <errno.h>

struct runner {
	struct sley_task task;
	struct list list; /* of runners that have ended, or never ran */
	struct pipeline *pipeline;
};

struct pipeline {
	const struct sley_stage *stages;
	size_t nr_stages;
	uint32_t nr_tokens;
	struct turnstile *turnstiles; /* of each stage; NULL: one token */
	struct sley_scope scope;      /* of all runners but the caller   */
	bool scoped; /* the scope is open; a short form uses only its group */
	bool blocks; /* some stage blocks                                  */
	struct sley_options options; /* of the runners                     */
	struct how how;
	int32_t error; /* the first error, or 0                              */

	struct spinlock lock; /* for the rest */
	struct list free, ready, idle;
	uint64_t nr_items;
	uint32_t nr_running; /* runners, with the pending one */
	bool pending;
	bool making; /* a runner is in the first stage */
	bool ended;  /* there are no more items        */
};

#define runner_of(node) container_of(node, struct runner, list)

static enum sley_stage_mode mode_of(const struct sley_stage *stage)
{
	return (enum sley_stage_mode)(stage->mode & ~SLEY_STAGE_BLOCKS);
}

/* ---- errors ---------------------------------------------------------------- */

static void keep_error(struct pipeline *p, int err)
{
	int32_t none = 0;

	/* relaxed: a number; its reader has joined all runners. */
	if (cas_relaxed(&p->error, &none, err) && p->scoped)
		scope_cancel(&p->scope, -ECANCELED);
}

/* Shall items that have not begun be left out?  Then the caller must do so. */
static bool is_stopped(struct pipeline *p)
{
	/* relaxed: sooner or later; which items are dropped does not depend on it. */
	if (load_relaxed(&p->error))
		return true;
	if (likely(!how_stopped(&p->how)))
		return false;
	keep_error(p, -ECANCELED);
	return true;
}

/* ---- runners --------------------------------------------------------------- */

static void run(void *arg);
static int run_member(void *arg);

/* Under the lock. */
static bool can_make(const struct pipeline *p)
{
	return !p->ended && !p->making && !list_empty(&p->free);
}

/* A runner whose last run is over altogether. */
static struct runner *idle_runner(struct pipeline *p)
{
	struct list *node = list_first(&p->idle);

	for (; node && node != &p->idle; node = node->next) {
		struct runner *runner = runner_of(node);
		enum task_state state =
			task_state_of(task_observe(&runner->task));

		if (likely(state == TASK_FREE || state == TASK_COMPLETED)) {
			list_remove(node);
			return runner;
		}
	}
	return NULL;
}

/* Under the lock: the runner to be spawned after the unlock, or NULL. */
static struct runner *want_runner(struct pipeline *p)
{
	struct runner *runner;

	if (p->pending || p->nr_running >= p->nr_tokens)
		return NULL;
	if (list_empty(&p->ready) && !can_make(p))
		return NULL;
	runner = idle_runner(p);
	if (runner) {
		p->pending = true;
		p->nr_running++;
	}
	return runner;
}

static int start(struct pipeline *p, struct runner *runner)
{
	runner->task.fn = p->scoped ? (sley_fn *)(void (*)(void))run_member
				    : run;
	runner->task.arg = runner;
	runner->task.name = "pipeline";
	return spawn_into_as(p->how.rt, &p->scope.group, &runner->task,
			     &p->options, p->scoped ? TASK_MEMBER : 0);
}

/*
 * Where no runner can be started the running ones are enough: in a runtime that
 * takes no task any more, or if the caller is a thread of the blocking pool of a
 * single-threaded runtime.
 */
static void unlock_and_start(struct pipeline *p)
{
	struct runner *runner = want_runner(p);

	spin_unlock(&p->lock);
	if (likely(!runner) || likely(!start(p, runner)))
		return;
	spin_lock(&p->lock);
	p->pending = false;
	p->nr_running--;
	list_append(&p->idle, &runner->list);
	spin_unlock(&p->lock);
}

/* From here on any runner may take @token. */
static void put_down(struct pipeline *p, struct token *token)
{
	spin_lock(&p->lock);
	list_append(&p->ready, &token->list);
	unlock_and_start(p);
}

static void make_ready(struct pipeline *p, struct token *token)
{
	token->admitted = true;
	put_down(p, token);
}

/* ---- turnstiles ------------------------------------------------------------ */

static bool enter(struct pipeline *p, struct token *token)
{
	struct turnstile *at = &p->turnstiles[token->stage];

	if (token->admitted) {
		token->admitted = false;
		return true;
	}
	if (mode_of(&p->stages[token->stage]) == SLEY_STAGE_ORDERED)
		return turnstile_enter_ordered(at, token);
	return turnstile_enter_serial(at, token);
}

static void leave(struct pipeline *p, size_t stage)
{
	struct turnstile *at = &p->turnstiles[stage];
	struct token *next;

	if (mode_of(&p->stages[stage]) == SLEY_STAGE_ORDERED)
		next = turnstile_leave_ordered(at);
	else
		next = turnstile_leave_serial(at);
	if (next)
		make_ready(p, next);
}

/* ---- stages ---------------------------------------------------------------- */

/* The next stage did not take the item, and so no later stage will. */
static void drop(struct pipeline *p, struct token *token)
{
	const struct sley_stage *maker = &p->stages[token->stage - 1];

	if (token->item && maker->drop)
		maker->drop(token->item, maker->arg);
	token->item = NULL;
}

static void call_stage(struct pipeline *p, struct token *token)
{
	const struct sley_stage *stage = &p->stages[token->stage];
	int err;

	if (!token->item)
		return;
	if (is_stopped(p)) {
		drop(p, token);
		return;
	}
	err = stage->fn(&token->item, stage->arg);
	if (unlikely(err)) {
		keep_error(p, err);
		drop(p, token);
	}
}

/* Is the next stage entered one by one?  An ordered stage counts all items. */
static bool one_by_one(const struct pipeline *p, const struct token *token)
{
	enum sley_stage_mode mode = mode_of(&p->stages[token->stage]);

	if (mode == SLEY_STAGE_PARALLEL || p->nr_tokens == 1)
		return false;
	return mode == SLEY_STAGE_ORDERED || token->item;
}

/* ---- stages that block ------------------------------------------------------ */

/* A call of a stage on a thread of the blocking pool. */
struct errand {
	struct pipeline *p;
	struct token *token;
	bool alone; /* in the stage, and has to leave it    */
	int err;    /* of the first stage                  */
};

/* The caller waits for the blocking pool: another runner may take its place. */
static void step_aside(struct pipeline *p)
{
	spin_lock(&p->lock);
	p->nr_running--;
	unlock_and_start(p);
}

static void step_back(struct pipeline *p)
{
	spin_lock(&p->lock);
	p->nr_running++;
	spin_unlock(&p->lock);
}

/*
 * True: @fn was called on a thread that may block.  False: there is no such
 * thread, or the runner was cancelled before; the short form goes on all the same.
 */
static bool run_elsewhere(struct pipeline *p, sley_fn *fn,
			  struct errand *errand)
{
	int err;

	step_aside(p);
	err = sley_blocking_call(fn, errand);
	step_back(p);
	if (err == -ECANCELED && p->scoped)
		keep_error(p, err);
	return !err;
}

static void make_errand(void *arg)
{
	struct errand *errand = arg;
	const struct sley_stage *stage = &errand->p->stages[0];

	errand->err = stage->fn(&errand->token->item, stage->arg);
}

static void carry_errand(void *arg)
{
	const struct errand *errand = arg;
	struct pipeline *p = errand->p;
	struct token *token = errand->token;

	call_stage(p, token);
	if (errand->alone)
		leave(p, token->stage);
	token->stage++;
	put_down(p, token);
}

/* True: @token is behind its stage, and no longer the caller's. */
static bool call_elsewhere(struct pipeline *p, struct token *token, bool alone)
{
	struct errand errand = { .p = p, .token = token, .alone = alone };

	if (likely(!(p->stages[token->stage].mode & SLEY_STAGE_BLOCKS)))
		return false;
	/* An item that will be dropped needs no thread. */
	if (!token->item || is_stopped(p))
		return false;
	return run_elsewhere(p, carry_errand, &errand);
}

/* True: through all stages.  False: put down, and no longer the caller's. */
static bool carry(struct pipeline *p, struct token *token)
{
	for (; token->stage < p->nr_stages; token->stage++) {
		bool alone = one_by_one(p, token);

		if (alone && !enter(p, token))
			return false;
		if (call_elsewhere(p, token, alone))
			return false;
		call_stage(p, token);
		if (alone)
			leave(p, token->stage);
	}
	return true;
}

/* ---- tokens to carry ------------------------------------------------------- */

static int call_maker(struct pipeline *p, struct token *token)
{
	const struct sley_stage *stage = &p->stages[0];
	struct errand errand = { .p = p, .token = token };

	if (unlikely(stage->mode & SLEY_STAGE_BLOCKS)) {
		if (run_elsewhere(p, make_errand, &errand))
			return errand.err;
		if (is_stopped(p))
			return -ECANCELED;
	}
	return stage->fn(&token->item, stage->arg);
}

/* By the only runner in the first stage. */
static bool make_item(struct pipeline *p, struct token *token)
{
	int err;

	token->item = NULL;
	token->stage = 1;
	if (is_stopped(p))
		return false;
	err = call_maker(p, token);
	if (unlikely(err))
		keep_error(p, err);
	return !err && token->item;
}

/* With the lock held, which is given back. */
static struct token *take_made(struct pipeline *p)
{
	struct token *token = token_of(list_take_first(&p->free));
	bool made;

	p->making = true;
	spin_unlock(&p->lock);
	made = make_item(p, token);
	spin_lock(&p->lock);
	p->making = false;
	if (made) {
		token->number = p->nr_items++;
		unlock_and_start(p);
		return token;
	}
	p->ended = true;
	list_append(&p->free, &token->list);
	spin_unlock(&p->lock);
	return NULL;
}

/* NULL: there is no token, and @runner has to end; @runner: NULL for the caller. */
static struct token *take(struct pipeline *p, struct runner *runner)
{
	struct token *token = NULL;

	spin_lock(&p->lock);
	if (list_empty(&p->ready) && can_make(p)) {
		token = take_made(p);
		if (token)
			return token;
		spin_lock(&p->lock);
	}
	if (!list_empty(&p->ready)) {
		token = token_of(list_take_first(&p->ready));
		unlock_and_start(p);
		return token;
	}
	p->nr_running--;
	if (runner)
		list_append(&p->idle, &runner->list);
	spin_unlock(&p->lock);
	return NULL;
}

static void run_all(struct pipeline *p, struct runner *runner)
{
	struct token *token;

	while ((token = take(p, runner))) {
		if (!carry(p, token))
			continue;
		spin_lock(&p->lock);
		list_prepend(&p->free, &token->list);
		spin_unlock(&p->lock);
	}
}

static void run(void *arg)
{
	struct runner *runner = arg;
	struct pipeline *p = runner->pipeline;

	spin_lock(&p->lock);
	p->pending = false;
	spin_unlock(&p->lock);
	run_all(p, runner);
}

/* As a sley_job; errors are kept elsewhere. */
static int run_member(void *arg)
{
	run(arg);
	return 0;
}

/* By the caller, or for the caller; the other runners are as urgent and as free. */
static void run_first(void *arg)
{
	struct pipeline *p = arg;
	struct worker *worker = worker_current();

	if (worker) {
		uint32_t flags = task_flags(worker->strand->task);

		p->options.priority = (int)task_level_of(flags) - LEVEL_DEFAULT;
		p->options.migratable = task_moves(flags);
	} else {
		p->nr_tokens = 1; /* no worker can run a second runner */
	}
	p->nr_running = 1;
	run_all(p, NULL);
}

/* ---- the calls ------------------------------------------------------------- */

/* Parts of one allocation, in this order. */
struct parts {
	size_t nr_runners, nr_waiting;
	size_t bytes;
};

static struct parts parts_of(const struct pipeline *p)
{
	struct parts parts = {
		.nr_runners = (p->blocks ? 2 : 1) * p->nr_tokens +
			      how_workers(&p->how),
		.nr_waiting = p->nr_tokens * p->nr_stages,
	};

	parts.bytes = parts.nr_runners * sizeof(struct runner) +
		      p->nr_stages * sizeof(struct turnstile) +
		      p->nr_tokens * sizeof(struct token) +
		      parts.nr_waiting * sizeof(struct token *);
	return parts;
}

/* @memory is zeroed. */
static void set_up(struct pipeline *p, const struct parts *parts, void *memory)
{
	struct runner *runner = memory;
	struct token *token;
	struct token **waiting;

	p->turnstiles = (void *)(runner + parts->nr_runners);
	token = (void *)(p->turnstiles + p->nr_stages);
	waiting = (void *)(token + p->nr_tokens);
	for (size_t i = 0; i < parts->nr_runners; i++) {
		runner[i].pipeline = p;
		list_init(&runner[i].list);
		list_append(&p->idle, &runner[i].list);
	}
	for (size_t i = 0; i < p->nr_stages; i++) {
		turnstile_init(&p->turnstiles[i], waiting, p->nr_tokens);
		waiting += p->nr_tokens;
	}
	for (size_t i = 0; i < p->nr_tokens; i++) {
		list_init(&token[i].list);
		list_append(&p->free, &token[i].list);
	}
}

static int run_first_member(void *arg)
{
	run_first(arg);
	return 0;
}

/* The caller cannot be the first runner, so a member is.  False: no member is. */
static bool spawn_first(struct pipeline *p, struct sley_task *first)
{
	const struct strand *caller = p->how.caller;
	unsigned int level = p->how.level;

	if (p->how.own_level)
		level = caller ? task_level(caller->task) : LEVEL_DEFAULT;
	p->options.priority = (int)level - LEVEL_DEFAULT;
	p->options.migratable = how_moves(&p->how);
	first->fn = (sley_fn *)(void (*)(void))run_first_member;
	first->arg = p;
	first->name = "pipeline";
	return !spawn_into_as(p->how.rt, &p->scope.group, first, &p->options,
			      TASK_MEMBER);
}

/* Nothing cuts this short: the runners are in the caller's frame. */
static void run_and_join(struct pipeline *p)
{
	struct sley_task first;

	if (p->scoped)
		scope_open(&p->scope, UINT64_MAX);
	group_set_tree(&p->scope.group, tree_current());
	if (!p->scoped || how_in_place(&p->how) || !spawn_first(p, &first))
		how_run(&p->how, run_first, p);
	if (p->scoped)
		(void)!scope_close(&p->scope);
	else
		(void)!countdown_wait(&p->scope.group.q, UINT64_MAX,
				      WAIT_SHIELDED);
	/* The first runner was cancelled before it started. */
	if (!p->ended)
		keep_error(p, -ECANCELED);
}

/* ->how is set. */
static int run_pipeline(struct pipeline *p)
{
	struct parts parts = parts_of(p);
	struct token only = { .item = NULL };
	void *memory = NULL;

	list_init(&p->free);
	list_init(&p->ready);
	list_init(&p->idle);
	if (p->nr_tokens > 1)
		memory = mem_alloc(&p->how.rt->mem, parts.bytes);
	if (memory) {
		set_up(p, &parts, memory);
	} else {
		p->nr_tokens = 1;
		list_init(&only.list);
		list_append(&p->free, &only.list);
	}
	run_and_join(p);
	if (memory)
		mem_free(&p->how.rt->mem, memory, parts.bytes);
	/* relaxed: all runners have been joined. */
	return load_relaxed(&p->error);
}

bool pipeline_stage_is_sound(const struct sley_stage *stage)
{
	return stage->fn && (unsigned int)mode_of(stage) <= SLEY_STAGE_PARALLEL;
}

/* Looks at all stages; false if a stage is wrong. */
static bool read_stages(struct pipeline *p, uint32_t tokens)
{
	const struct sley_stage *stages = p->stages;

	if (p->nr_stages == 0 || p->nr_stages > SLEY_PIPELINE_STAGES_MAX ||
	    tokens > SLEY_PIPELINE_TOKENS_MAX ||
	    mode_of(&stages[0]) == SLEY_STAGE_PARALLEL)
		return false;
	for (size_t i = 0; i < p->nr_stages; i++) {
		if (!pipeline_stage_is_sound(&stages[i]))
			return false;
		p->blocks |= (stages[i].mode & SLEY_STAGE_BLOCKS) != 0;
	}
	return true;
}

static int check_and_run(struct pipeline *p, uint32_t tokens)
{
	if (!read_stages(p, tokens))
		return -EINVAL;
	p->nr_tokens = tokens ? tokens : 4 * how_workers(&p->how);
	if (!p->how.rt)
		p->nr_tokens = 1;
	return run_pipeline(p);
}

int sley_pipeline(const struct sley_stage *stages, size_t nr, uint32_t tokens)
{
	struct pipeline p = { .stages = stages, .nr_stages = nr };

	how_default(&p.how);
	return check_and_run(&p, tokens);
}

int sley_pipeline_with(const struct sley_stage *stages, size_t nr,
		       uint32_t tokens, const struct sley_how *how)
{
	struct pipeline p = { .stages = stages, .nr_stages = nr };
	int err = how_read(&p.how, how);

	if (err)
		return err;
	p.scoped = p.how.rt;
	return check_and_run(&p, tokens);
}
