/* SPDX-License-Identifier: MIT */
/*
 * stream_resolve.c - src/stream/resolve.c: the memory of a look-up is there until both
 * the asker and the thread have left it, and is freed then.
 *
 * The thread is a model thread; the pool of blocking calls is a word: a look-up is
 * posted, and then taken by the thread or taken back by the asker (core_blocking.c has
 * the pool).
 *
 * Complete for an asker that waits for ever, one with a deadline against a thread that
 * looks for the job or has begun, and one that is cancelled.  Not seen: several
 * look-ups, which share nothing.
 */
#include "tasks_only.h"

#include "model_mem.h"

#include "stream/resolve.c"

#include <netinet/in.h>

enum { NOT_POSTED, POSTED, TAKEN, TAKEN_BACK };

static uint32_t state; /* of the job; a futex */
static struct blocking_job *posted;
static struct ledger {
	int found, early;
} ledger;

struct mem sley__program_mem;

/* ---- the pool ------------------------------------------------------------------------ */

int blocking_reserve(struct blocking *pool, bool patient)
{
	MODEL_CHECK(pool == &task_runtime.blocking && patient);
	return 0;
}

void blocking_post(struct blocking *pool, struct blocking_job *job)
{
	(void)pool;
	posted = job;
	store_release(&state, POSTED);
	os_futex_wake(&state, 1);
}

bool blocking_take_back(struct blocking *pool, struct blocking_job *job)
{
	uint32_t word = POSTED;

	(void)pool;
	MODEL_CHECK(job == posted);
	/* relaxed: either takes it. */
	return cas_relaxed(&state, &word, TAKEN_BACK);
}

void blocking_job_ends(struct blocking_thread *thread)
{
	(void)thread;
}

static void thread(int id)
{
	uint32_t word = POSTED;

	(void)id;
	/* relaxed: the swap acquires. */
	while (load_relaxed(&state) == NOT_POSTED)
		(void)os_futex_wait(&state, NOT_POSTED, UINT64_MAX);
	if (cas_acquire(&state, &word, TAKEN))
		posted->run(posted, NULL);
}

/* ---- addresses ----------------------------------------------------------------------- */

int os_resolve(const char *host, const char *service, os_add_address *add_one,
	       void *arg)
{
	struct sockaddr_in found = { .sin_family = AF_INET };

	(void)service;
	MODEL_CHECK(*host == 'h');
	MODEL_CHECK(
		add_one(arg, (const struct sockaddr *)&found, sizeof(found)));
	return 0;
}

int address_split(struct address_parts *parts, const char *text)
{
	parts->host[0] = text[0];
	return 0;
}

int sley_address_parse(struct sley_address *address, const char *text)
{
	(void)address;
	(void)text;
	return -ENOENT;
}

/* ---- scenes -------------------------------------------------------------------------- */

static void setup_with(enum tasks_flags flags)
{
	tasks_setup(flags);
	memset(&ledger, 0, sizeof(ledger));
	model_ledger(&ledger, sizeof(ledger));
	state = NOT_POSTED;
	posted = NULL;
	model_name(&state, "state");
}

static void setup(void)
{
	setup_with(0);
}

static void setup_timed(void)
{
	setup_with(TASKS_TIMED);
}

static void ask(int id, uint64_t deadline_ns, int early)
{
	struct sley_address address;
	int nr;

	task_begin(id);
	nr = sley_address_resolve_until(&address, 1, "h:1", deadline_ns);
	MODEL_CHECK(nr == 1 || nr == early);
	if (nr == 1) {
		MODEL_CHECK(address.length == sizeof(struct sockaddr_in));
		MODEL_CHECK(address.storage.family == AF_INET);
		ledger.found++;
	} else {
		ledger.early++;
	}
}

static void asker(int id)
{
	ask(id, UINT64_MAX, 1);
}

static void asker_soon(int id)
{
	ask(id, LATER, -ETIMEDOUT);
}

static void asker_that_is_cancelled(int id)
{
	ask(id, UINT64_MAX, -ECANCELED);
}

static void canceller(int id)
{
	(void)id;
	task_end_wait(0);
}

static void is_found(void)
{
	MODEL_CHECK(ledger.found == 1 && state == TAKEN);
	tasks_check();
}

static void is_over(void)
{
	MODEL_CHECK(ledger.found + ledger.early == 1);
	MODEL_CHECK(!ledger.found || state == TAKEN);
	tasks_check();
}

MODEL(an_asker_gets_the_answer, .setup = setup, .threads = { asker, thread },
      .finish = is_found);

MODEL(an_asker_leaves_at_its_deadline, .setup = setup_timed,
      .threads = { asker_soon, thread }, .finish = is_over);

MODEL(an_asker_leaves_when_it_is_cancelled, .setup = setup,
      .threads = { asker_that_is_cancelled, thread, canceller },
      .finish = is_over);
