/* SPDX-License-Identifier: MIT */
/*
 * actor_turn.c - step processes from the first turn to the last, with the very
 * src/actor/{process,step,mail,signal,table}.c, src/core/task/turn.h and place.c: no
 * process is in two turns at once or sleeps beside a message, every message is
 * handled once or freed, and a worker touches nothing that another worker may own.
 *
 * Worker 0 runs the tasks that it finds: the worker searches with the very search.c,
 * claims, calls the turn, and then the code after a turn, as run_turn() in
 * core/sched/worker.c does.  Other threads send and kill, as workers or as foreign
 * threads.  A process ends after the expected number of messages, or when killed.  A
 * worker that finds no task while the process lives sleeps for ever: a lost wake-up.
 *
 * Complete for one process, one worker and one or two senders; for a sender and a
 * killer; and for a process that ends while a late sender meets the next process in
 * the same place.
 */
#include "crew.h"
#include "payload.h"
#include "processes_only.h"

#include "core/sched/place.h"
#include "core/task/turn.h"

#include <sley/error.h>
#include <stdlib.h>
#include <sley/step.h>

#define BODIES 3

static struct payload bodies[BODIES]; /* plain data of messages */
static struct strand strands[CREW_MAX];
static sley_pid pid;
static uint32_t in_turn; /* a process runs in one place at a time */
static struct ledger {
	int handled[BODIES];
	int nr_handled, nr_refused, nr_closed;
	int wants;  /* messages before the end */
	int reason; /* of the end              */
} ledger;

/* ---- the rest of the runtime ------------------------------------------------------ */

void process_misuse(const struct process *process, const char *rule)
{
	(void)process;
	MODEL_CHECK(!rule);
	abort();
}

int spawn_into_as(struct sley *into, struct sley_group *group,
		  struct sley_task *task, const struct sley_options *options,
		  uint32_t flags)
{
	(void)options;
	MODEL_CHECK(into == rt);
	task->fiber = NULL;
	task->group = group;
	task_build(task, LEVEL_DEFAULT, flags);
	place_spawned(&crew[0], task);
	return 0;
}

void drain_end_unbind(struct worker *worker)
{
	(void)worker;
	MODEL_CHECK(!"nobody unbinds");
}

/* ---- the process -------------------------------------------------------------------- */

static enum sley_step count_step(void *self, struct sley_msg *const *msg,
				 size_t nr, struct sley_out *out)
{
	(void)self;
	for (size_t i = 0; i < nr; i++) {
		MODEL_CHECK(msg[i]->kind == SLEY_MESSAGE);
		MODEL_CHECK(msg[i]->tag < BODIES);
		payload_check(&bodies[msg[i]->tag]);
		ledger.handled[msg[i]->tag]++;
		ledger.nr_handled++;
	}
	if (ledger.nr_handled < ledger.wants)
		return SLEY_WAIT;
	out->reason = 0;
	return SLEY_END;
}

static void note_close(void *self, int reason)
{
	(void)self;
	ledger.nr_closed++;
	ledger.reason = reason;
}

static const struct sley_behaviour counter = { .step = count_step,
					       .close = note_close };

static void setup_with(int wants, unsigned int workers)
{
	crew_set_up(workers);
	processes_setup();
	memset(bodies, 0, sizeof(bodies));
	memset(&ledger, 0, sizeof(ledger));
	model_ledger(&ledger, sizeof(ledger));
	ledger.wants = wants;
	in_turn = 0;
	model_name(&in_turn, "in_turn");
	for (int i = 0; i < CREW_MAX; i++) {
		strands[i] = (struct strand){ .home = &crew[i] };
		crew[i].strand = &strands[i];
	}
	selves[0] = selves[1];
	MODEL_CHECK(!sley_process_spawn(&pid, &counter, NULL, 0, NULL));
	selves[0] = (struct self){ 0 };
}

static void setup(int wants)
{
	setup_with(wants, 1);
}

/* As run_turn() does. */
static void run(struct worker *worker, struct sley_task *task)
{
	(void)task_claim(task);
	MODEL_CHECK(xchg_acq_rel(&in_turn, 1) == 0);
	worker->strand->task = task;
	task->fn(task);
	worker->strand->task = NULL;
	MODEL_CHECK(xchg_acq_rel(&in_turn, 0) == 1);
	task->fiber = NULL;
	turns_of(task)->after(worker, task);
}

/* The first turn is over, and the process has parked: begin there. */
static void setup_parked_with(int wants, unsigned int workers)
{
	setup_with(wants, workers);
	selves[0] = selves[1];
	run(&crew[0], worker_pick(&crew[0]));
	selves[0] = (struct self){ 0 };
	MODEL_CHECK(process_places[0].inbox.word == INBOX_IDLE);
}

static void setup_parked(int wants)
{
	setup_parked_with(wants, 1);
}

static void setup_one(void)
{
	setup(1);
}

static void setup_two(void)
{
	setup(2);
}

static void setup_parked_one(void)
{
	setup_parked(1);
}

static void setup_parked_two(void)
{
	setup_parked(2);
}

static void setup_parked_for_ever(void)
{
	setup_parked(BODIES + 1);
}

/* ---- threads ------------------------------------------------------------------------ */

static void work(int id)
{
	while (!ledger.nr_closed)
		run(&crew[id], worker_search(&crew[id]));
}

static void send(int id, uint64_t tag)
{
	struct sley_msg *msg = mail_create(SLEY_MESSAGE, tag);

	(void)id;
	payload_write(&bodies[tag]);
	ledger.nr_refused += mail_send(pid, msg) != 0;
}

static void send_first(int id)
{
	send(id, 0);
}

static void send_second(int id)
{
	send(id, 1);
}

static void send_two(int id)
{
	send(id, 0);
	send(id, 1);
}

static void kill_it(int id)
{
	(void)id;
	(void)sley_process_kill(pid);
}

/* ---- conditions ------------------------------------------------------------------------ */

static void all_came(void)
{
	MODEL_CHECK(ledger.nr_closed == 1 && ledger.reason == 0);
	MODEL_CHECK(ledger.nr_handled == ledger.wants);
	MODEL_CHECK(ledger.nr_refused == 0);
	for (int i = 0; i < BODIES; i++)
		MODEL_CHECK(ledger.handled[i] == (i < ledger.wants));
	MODEL_CHECK(nr_places == 0);
	MODEL_CHECK(process_places[0].inbox.word == INBOX_CLOSED);
	MODEL_CHECK(process_places[0].pid == 0);
}

static void was_killed(void)
{
	MODEL_CHECK(ledger.nr_closed == 1 && ledger.reason == SLEY_EKILLED);
	MODEL_CHECK(ledger.handled[0] <= 1);
	MODEL_CHECK(nr_places == 0);
}

#define BOTH_VARIANTS(name, ...)                                               \
	MODEL(name##_with_membarrier, __VA_ARGS__);                            \
	MODEL(name##_without_membarrier, .no_membarrier = true, __VA_ARGS__)

BOTH_VARIANTS(the_first_turn_meets_a_message, .setup = setup_one,
	      .threads = { work, send_first }, .finish = all_came);

BOTH_VARIANTS(a_parked_one_gets_a_message, .setup = setup_parked_one,
	      .threads = { work, send_first }, .finish = all_came);

MODEL(a_parked_one_gets_two, .setup = setup_parked_two, .no_membarrier = true,
      .threads = { work, send_two }, .finish = all_came,
      .slow_modes = MODEL_SC | MODEL_RA);

MODEL(the_first_turn_meets_two, .setup = setup_two, .no_membarrier = true,
      .threads = { work, send_two }, .finish = all_came,
      .slow_modes = MODEL_SC | MODEL_RA);

MODEL(a_parked_one_is_killed, .setup = setup_parked_for_ever,
      .threads = { work, kill_it }, .finish = was_killed);

/* ---- no worker sleeps: finish runs the remaining tasks -------------------------------- */

static void run_own(int id)
{
	struct sley_task *task;

	while ((task = worker_pick(&crew[id])))
		run(&crew[id], task);
}

static void run_all(void)
{
	for (unsigned int i = 0; i < rt->nr_workers; i++) {
		selves[0] = selves[1 + i];
		run_own((int)i);
	}
}

/* A worker that sends has woken the process for itself. */
static void send_and_run(int id)
{
	send(id, 0);
	run_own(id);
}

static void send_second_and_run(int id)
{
	send(id, 1);
	run_own(id);
}

static void all_came_in_the_end(void)
{
	run_all();
	all_came();
}

static void was_killed_in_the_end(void)
{
	run_all();
	was_killed();
}

static void setup_crew(int wants, bool parked)
{
	if (parked)
		setup_parked_with(wants, 2);
	else
		setup_with(wants, 2);
}

static void setup_first_turn(void)
{
	setup_crew(1, false);
}

static void setup_both_send(void)
{
	setup_crew(2, true);
}

static void setup_killed(void)
{
	setup_crew(BODIES + 1, false);
}

MODEL(a_worker_wakes_for_itself, .setup = setup_first_turn,
      .threads = { run_own, send_and_run }, .finish = all_came_in_the_end);

MODEL(two_workers_wake_it, .setup = setup_both_send,
      .threads = { send_and_run, send_second_and_run },
      .finish = all_came_in_the_end);

MODEL(two_workers_and_a_foreign_thread, .setup = setup_both_send,
      .threads = { run_own, send_and_run, send_second },
      .finish = all_came_in_the_end);

MODEL(a_message_and_a_kill, .setup = setup_killed,
      .threads = { run_own, send_and_run, kill_it },
      .finish = was_killed_in_the_end, .slow_modes = MODEL_RA);

/* sley_send() in one piece: with a message at hand, to a parked process. */
static void setup_at_hand(void)
{
	setup_crew(1, false);
	crew[1].cache[CACHE_MESSAGES].pool = &sley__messages;
	crew[1].cache[CACHE_MESSAGES].loaded.first =
		model_alloc(sizeof(struct sley_msg));
	crew[1].cache[CACHE_MESSAGES].loaded.nr = 1;
}

static void send_at_hand_and_run(int id)
{
	payload_write(&bodies[0]);
	MODEL_CHECK(!sley_send(pid, 0, NULL, 0));
	run_own(id);
}

/* The messages were put back into a cache. */
static void all_came_by_hand(void)
{
	run_all();
	all_came();
	for (int i = 0; i < CREW_MAX; i++) {
		if (crew[i].cache[CACHE_MESSAGES].loaded.nr)
			model_free(crew[i].cache[CACHE_MESSAGES].loaded.first);
	}
}

MODEL(a_worker_sends_in_one_piece, .setup = setup_at_hand,
      .threads = { run_own, send_at_hand_and_run }, .finish = all_came_by_hand);

/* ---- a late sender --------------------------------------------------------------------- */

/*
 * The sender knows the first process, which ends by a kill; the place has a next
 * process, which counts its own messages only.
 */
static void end_and_follow(int id)
{
	sley_pid next;

	run_own(id);
	MODEL_CHECK(ledger.nr_closed == 1);
	ledger.nr_closed = 0;
	MODEL_CHECK(!sley_process_spawn(&next, &counter, NULL, 0, NULL));
	MODEL_CHECK(pid_index(next) == pid_index(pid) && next != pid);
	run_own(id);
	MODEL_CHECK(!sley_process_kill(next));
	run_own(id);
}

static void setup_late(void)
{
	setup_parked(BODIES + 1);
	MODEL_CHECK(!sley_process_kill(pid));
}

static void the_next_got_nothing(void)
{
	run_all();
	MODEL_CHECK(ledger.nr_handled == 0);
	was_killed();
}

MODEL(a_late_sender_meets_the_next_process, .setup = setup_late,
      .threads = { end_and_follow, send_first },
      .finish = the_next_got_nothing);

MODEL(a_late_kill_does_not_meet_the_next_process, .setup = setup_late,
      .threads = { end_and_follow, kill_it }, .finish = the_next_got_nothing);

/* ---- a guessed pid ------------------------------------------------------------------------ */

/*
 * No edge has given the pid to the sender: the sender looks until the process is
 * there.  A sender that finds the pid finds the whole process: the inbox is open.
 */
static void setup_unborn(void)
{
	setup_parked(1);
	/* The process before has ended. */
	MODEL_CHECK(!sley_process_kill(pid));
	selves[0] = selves[1];
	run(&crew[0], worker_pick(&crew[0]));
	selves[0] = (struct self){ 0 };
	ledger.nr_closed = 0;
	ledger.reason = 0;
	pid = pid_make(0, pid_index(pid), pid_generation(pid) + 1);
}

static void spawn_and_run(int id)
{
	sley_pid made;

	MODEL_CHECK(!sley_process_spawn(&made, &counter, NULL, 0, NULL));
	MODEL_CHECK(made == pid);
	run_own(id);
}

static void find_and_send(int id)
{
	struct sley_msg *msg = mail_create(SLEY_MESSAGE, 0);
	struct process *found;

	(void)id;
	payload_write(&bodies[0]);
	while (!(found = process_find(pid)))
		spin_hint(&process_places[0].pid);
	MODEL_CHECK(!mail_send_to(found, pid, msg));
}

MODEL(a_pid_is_enough_to_send, .setup = setup_unborn,
      .threads = { spawn_and_run, find_and_send },
      .finish = all_came_in_the_end);
