/* SPDX-License-Identifier: MIT */
/*
 * actor_name.c - src/actor/name/name.c against the end of a process: a name leads to
 * one process that is alive.  When other processes hear of the end, the name is
 * free; for a thread that has found the process gone, the name is free before that.
 * A dying process gets no name that would be left behind; and each name is given
 * back once.
 *
 * The end is as in process_end(), as far as it concerns names: the pid goes under
 * the lock, then the names, then other processes are told.  Meanwhile another
 * process wants the name, a thread takes the name back, and a thread gives the dying
 * process a second name.
 *
 * Complete for the end of a process with one name against a thread that registers
 * the name for another process, with or without a thread that takes the name back,
 * or looks; against a thread that has been told, or has found the process gone; and
 * against a thread that names the dying process.  Not seen: several names, and
 * shards; the stress test has both.
 */
#include "selves.h"

#include "actor/name/name.c"
#include "os/map.h"

#define OLD 0
#define NEW 1
#define PROCESSES 2

static struct process processes[PROCESSES];
static struct {
	_Alignas(64) char memory[OBJECT_POOL_MAGAZINE * NAME_SIZE];
} chunk;
static uint32_t told; /* of the end of the old process */
static struct ledger {
	int registered, existed, gone, taken_back;
} ledger;

void *(os_map)(size_t size)
{
	MODEL_CHECK(size == sizeof(chunk.memory));
	return model_mapped(chunk.memory, size);
}

void os_unmap(void *memory, size_t size)
{
	(void)memory;
	(void)size;
	MODEL_CHECK(false);
}

/* No thread waits here; waits are in actor_name_wait.c. */
void name_appeared(uint64_t hash)
{
	(void)hash;
}

/* ---- the scene ------------------------------------------------------------------- */

static sley_pid pid_of(uint32_t i)
{
	return pid_make(0, i, 1);
}

static void setup_nameless(void)
{
	memset(&names, 0, sizeof(names));
	memset(&chunk, 0, sizeof(chunk));
	pool = (struct object_pool){ .object_size = NAME_SIZE };
	sley__process_table[0] = processes;
	for (uint32_t i = 0; i < PROCESSES; i++) {
		memset(&processes[i], 0, sizeof(processes[i]));
		processes[i].index = i;
		processes[i].pid = pid_of(i);
		model_lock_word(&processes[i].lock.word);
		model_name(&processes[i].lock.word, "lock%d", (int)i);
		model_name(&processes[i].pid, "pid%d", (int)i);
	}
	told = 0;
	ledger = (struct ledger){ 0 };
	model_ledger(&ledger, sizeof(ledger));
	model_lock_word(&pool.lock.word);
	model_lock_word(&names.shard[0].lock.word);
	model_name(&pool.lock.word, "pool");
	model_name(&names.shard[0].lock.word, "shard");
	model_name(&told, "told");
}

static void setup(void)
{
	setup_nameless();
	MODEL_CHECK(sley_name_register("x", pid_of(OLD), NULL) == 0);
}

/* As process_end() does. */
static void end(int thread)
{
	struct process *process = &processes[OLD];

	(void)thread;
	spin_lock(&process->lock);
	store_relaxed(&process->pid, SLEY_NO_PID);
	spin_unlock(&process->lock);
	names_forget(process);
	store_release(&told, 1);
}

static void inherit(int thread)
{
	sley_pid owner = SLEY_NO_PID;
	int err = sley_name_register("x", pid_of(NEW), &owner);

	(void)thread;
	MODEL_CHECK(err == 0 || err == -EEXIST);
	MODEL_CHECK(!err == !owner);
	if (err) {
		MODEL_CHECK(owner == pid_of(OLD));
		ledger.existed++;
	} else {
		ledger.registered++;
	}
}

static void take_back(int thread)
{
	(void)thread;
	if (!sley_name_unregister("x"))
		ledger.taken_back++;
}

/* Nothing is left of the old process. */
static void finish(void)
{
	int left = ledger.registered;
	sley_pid pid = sley_name_find("x");

	/* The new process lost the name, or the old process before. */
	MODEL_CHECK(!processes[OLD].holdings);
	MODEL_CHECK((uint32_t)(pid != SLEY_NO_PID) == names.shard[0].nr);
	MODEL_CHECK(!pid || pid == pid_of(NEW));
	MODEL_CHECK(!pid == !processes[NEW].holdings);
	if (!ledger.taken_back)
		MODEL_CHECK(names.shard[0].nr == (uint32_t)left);
}

MODEL(an_heir_gets_it_when_the_owner_is_gone, .setup = setup,
      .threads = { end, inherit }, .finish = finish);

MODEL(somebody_takes_it_back, .setup = setup,
      .threads = { end, inherit, take_back }, .finish = finish);

MODEL(two_take_it_back, .setup = setup,
      .threads = { end, take_back, take_back }, .finish = finish);

/* ---- a thread that looks meanwhile ---------------------------------------------------- */

static void look(int thread)
{
	char text[SLEY_NAME_MAX + 1];

	(void)thread;
	name_of(pid_of(OLD), text);
	MODEL_CHECK(!text[0] || !strcmp(text, "x"));
}

MODEL(somebody_looks_while_it_passes_on, .setup = setup,
      .threads = { end, inherit, look }, .finish = finish);

/* ---- a thread that knows of the end ------------------------------------------------- */

static void inherit_when_told(int thread)
{
	if (!load_acquire(&told))
		return;
	inherit(thread);
	MODEL_CHECK(ledger.registered == 1);
}

MODEL(who_was_told_gets_it, .setup = setup,
      .threads = { end, inherit_when_told }, .finish = finish);

static void inherit_when_gone(int thread)
{
	if (process_find(pid_of(OLD)))
		return;
	MODEL_CHECK(sley_name_find("x") == SLEY_NO_PID);
	inherit(thread);
	MODEL_CHECK(ledger.registered == 1);
}

MODEL(who_has_found_it_gone_gets_it, .setup = setup,
      .threads = { end, inherit_when_gone }, .finish = finish);

/* ---- a name for the dying ------------------------------------------------------------ */

static void name_it(int thread)
{
	int err = sley_name_register("x", pid_of(OLD), NULL);

	(void)thread;
	MODEL_CHECK(err == 0 || err == -ESRCH);
	ledger.gone += err == -ESRCH;
}

static void finish_nameless(void)
{
	MODEL_CHECK(sley_name_find("x") == SLEY_NO_PID);
	MODEL_CHECK(names.shard[0].nr == 0);
	MODEL_CHECK(!processes[OLD].holdings);
}

MODEL(the_dying_get_no_name, .setup = setup_nameless,
      .threads = { end, name_it }, .finish = finish_nameless);
