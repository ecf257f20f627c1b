/* SPDX-License-Identifier: MIT */
/*
 * actor_name_wait.c - src/actor/name/name_wait.c: a waiter for a name is woken by
 * the registration, or gives up; no waiter is left in the list.
 *
 * The name is a word, as the table of names with its lock would be.  Beside the
 * finder, a registrar gives the name, another registrar gives another name that is
 * in the same list, and a third takes the name back.
 *
 * Complete for a finder and one or two of these, with a deadline and with a cancel.
 * Not seen: names.
 */
#include "inline_paths.h"
#include "tasks_only.h"

#include "actor/name/name_wait.c"

#define PID 77

static sley_pid owner; /* of the name */
static int payload;
static struct ledger {
	int found, gave_up;
} ledger;

sley_pid sley_name_find(const char *name)
{
	(void)name;
	return load_acquire(&owner);
}

bool key_init(struct key *key, const char *text)
{
	*key = (struct key){ .text = text, .length = 1 };
	return true;
}

static void setup_with(enum tasks_flags flags)
{
	tasks_setup(flags);
	memset(lists, 0, sizeof(lists));
	owner = SLEY_NO_PID;
	payload = 0;
	ledger = (struct ledger){ 0 };
	model_ledger(&ledger, sizeof(ledger));
	model_lock_word(&lists[0].word);
	model_name(&lists[0].word, "list");
	model_name(&owner, "owner");
}

static void setup(void)
{
	setup_with(0);
}

static void setup_timed(void)
{
	setup_with(TASKS_TIMED);
}

/* ---- the finder -------------------------------------------------------------------- */

static void find(uint64_t deadline_ns)
{
	sley_pid pid;
	int err = sley_name_find_until("x", &pid, deadline_ns);

	MODEL_CHECK(pid == (err ? SLEY_NO_PID : PID));
	MODEL_CHECK(err || payload == 7);
	ledger.found += !err;
	ledger.gave_up += err == -ETIMEDOUT || err == -ECANCELED;
}

static void thread_find(int id)
{
	(void)id;
	find(UINT64_MAX);
}

static void thread_find_soon(int id)
{
	(void)id;
	find(LATER);
}

static void task_find(int id)
{
	task_begin(id);
	find(UINT64_MAX);
}

static void task_find_soon(int id)
{
	task_begin(id);
	find(LATER);
}

/* ---- the registrars ----------------------------------------------------------------- */

static void register_it(int id)
{
	(void)id;
	payload = 7;
	store_release(&owner, PID);
	name_appeared(0);
}

static void task_register(int id)
{
	task_begin(id);
	register_it(id);
}

static void task_register_another(int id)
{
	task_begin(id);
	name_appeared(0);
}

static void cancel(int id)
{
	task_begin(id);
	task_end_wait(0);
}

/* ---- conditions at the end ------------------------------------------------------------- */

static void one_outcome(void)
{
	MODEL_CHECK(ledger.found + ledger.gave_up == 1);
	MODEL_CHECK(!lists[0].first && !lists[0].word);
	tasks_check();
}

static void found(void)
{
	MODEL_CHECK(ledger.found == 1);
	one_outcome();
}

static void both_found(void)
{
	MODEL_CHECK(ledger.found == 2);
	MODEL_CHECK(!lists[0].first && !lists[0].word);
	tasks_check();
}

MODEL(a_thread_finds_it, .setup = setup,
      .threads = { thread_find, register_it }, .finish = found);
MODEL(a_thread_finds_it_or_is_late, .setup = setup,
      .threads = { thread_find_soon, register_it }, .finish = one_outcome);
MODEL(a_task_finds_it, .setup = setup, .threads = { task_find, task_register },
      .finish = found);
MODEL(two_find_it, .setup = setup,
      .threads = { task_find, thread_find, register_it }, .finish = both_found);
MODEL(a_task_is_woken_for_another_name, .setup = setup,
      .threads = { task_find, task_register, task_register_another },
      .finish = found);
MODEL(a_task_finds_it_or_is_cancelled, .setup = setup,
      .threads = { task_find, task_register, cancel }, .finish = one_outcome);
MODEL(a_task_finds_it_or_is_late, .setup = setup_timed,
      .threads = { task_find_soon, task_register }, .finish = one_outcome);
