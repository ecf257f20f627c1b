/* SPDX-License-Identifier: MIT */
/*
 * actor_relation.c - the files of src/actor/relation: a process that is related with
 * an ending process is told once, or was told -ESRCH, or has undone the relation;
 * and nothing is left, and nothing is freed too early.
 *
 * Each thread is a process.  The inboxes (lf/inbox.h) and the table that finds and
 * locks processes are the very sources.  A message is put and a process ends as in
 * src/actor/{mail,signal,process}.c, reduced to the lines about relations.  A
 * process looks into its inbox at the end of its thread, and again at the end of the
 * model.  Reasons are plain memory: a message that comes without an edge is a race.
 *
 * Complete for two processes with one relation, and one call of each process; and
 * for three processes with a few calls each.
 */
#include "explorer.h"
#include "selves.h"

#include "actor/mail/blob.h"
#include "actor/relation/relation.h"

#include <errno.h>

#define PROCESSES 3
#define REASON(i) (-100 - (i))

static struct process places[1 << TABLE_CHUNK_BITS];
static struct strand strands[PROCESSES];
static struct watch *watch; /* in the frame of a call */
static struct ledger {
	int told[PROCESSES];  /* messages that the process got  */
	int error[PROCESSES]; /* of the last message            */
	uint64_t number;      /* of the monitor                 */
	uint64_t another;     /* of a second monitor            */
	int link;             /* the result of sley_link()      */
	int ports;            /* calls of port_ended()          */
	bool undone;          /* from here on nothing may come  */
} ledger;

static struct process *at(int i)
{
	return &places[i + 1];
}

static sley_pid pid_of(int i)
{
	return pid_make(0, at(i)->index, 1);
}

/* ---- the rest of the library ----------------------------------------------------- */

void *object_pool_get_slow(struct object_pool *pool,
			   struct object_pool_cache *cache)
{
	(void)cache;
	return model_alloc(pool->object_size);
}

void object_pool_put_slow(struct object_pool *pool,
			  struct object_pool_cache *cache, void *object)
{
	(void)pool;
	(void)cache;
	model_free(object);
}

sley_pid sley_self(void)
{
	/* relaxed: the process's own. */
	return load_relaxed(&process_current()->pid);
}

void mail_free(struct sley_msg *msg)
{
	relation_free(msg);
}

static int put(struct process *process, sley_pid pid, struct sley_msg *msg)
{
	msg->data = (const void *)(uintptr_t)pid;
	return inbox_put(&process->inbox, (void *)msg) == INBOX_REFUSED;
}

int mail_send(sley_pid to, struct sley_msg *msg)
{
	struct process *process = process_find(to);

	if (process && !put(process, to, msg))
		return 0;
	mail_free(msg);
	return -ESRCH;
}

/* No process leaves a result. */
void blob_get(struct sley_blob *blob)
{
	MODEL_CHECK(!blob);
}

void sley_blob_put(struct sley_blob *blob)
{
	MODEL_CHECK(!blob);
}

/* All processes trap; the signal would end any other process. */
void process_signal(struct process *process, struct sley_msg *msg)
{
	/* relaxed: the process is locked. */
	int refused = put(process, load_relaxed(&process->pid), msg);

	MODEL_CHECK(!refused);
	MODEL_CHECK(process != at(0) || msg->from != pid_of(1) ||
		    !ledger.undone);
}

void port_ended(sley_pid port, sley_pid target, const struct exit_info *ending)
{
	MODEL_CHECK(port == 7 && target == pid_of(1) &&
		    ending->reason == REASON(1));
	ledger.ports++;
}

/* ---- a process --------------------------------------------------------------------- */

static void receive(int i)
{
	struct push_node *node = inbox_take(&at(i)->inbox, NULL);

	while (node) {
		struct sley_msg *msg = (void *)node;

		node = node->next;
		if (!relation_arrived(at(i), msg))
			continue;
		MODEL_CHECK(i || !ledger.undone || msg->from != pid_of(1));
		MODEL_CHECK(msg->kind == SLEY_EXIT || i ||
			    msg->tag == ledger.number);
		ledger.told[i]++;
		ledger.error[i] = msg->error;
		mail_append(&at(i)->control, msg);
	}
}

static void end_for(int i, int reason)
{
	struct exit_info ending = { .reason = reason };
	struct process *process = at(i);
	struct relations *relations;
	struct push_node *node;
	struct sley_msg *msg;

	spin_lock(&process->lock);
	/* relaxed: written under the lock. */
	store_relaxed(&process->pid, SLEY_NO_PID);
	relations = relations_take(process, &ending);
	spin_unlock(&process->lock);
	for (node = inbox_close(&process->inbox, NULL); node;) {
		msg = (void *)node;
		node = node->next;
		mail_free(msg);
	}
	while ((msg = mail_take(&process->control)))
		mail_free(msg);
	relations_tell(relations, pid_of(i), &ending);
}

static void end(int i)
{
	end_for(i, REASON(i));
}

/* ---- models ------------------------------------------------------------------------ */

static void begin(void)
{
	ledger = (struct ledger){ 0 };
	model_ledger(&ledger, sizeof(ledger));
	sley__process_table[0] = places;
	for (int i = 0; i < PROCESSES; i++) {
		struct process *process = at(i);

		process->index = (uint32_t)(process - places);
		process->pid = pid_of(i);
		process->relations = NULL;
		process->inbox.word = INBOX_EMPTY;
		process->lock.word = 0;
		process->control.last = NULL;
		process->task.flags = TASK_PROCESS;
		strands[i].task = &process->task;
		selves[1 + i] = (struct self){ .strand = &strands[i] };
		model_lock_word(&process->lock.word);
		model_name(&process->lock.word, "lock%d", i);
		model_name(&process->pid, "pid%d", i);
		model_name(&process->inbox.word, "inbox%d", i);
	}
	selves[0] = (struct self){ .strand = &strands[0] };
}

/* A living process gets its messages, and ends. */
static void settle(void)
{
	for (int i = 0; i < PROCESSES; i++)
		if (at(i)->pid)
			receive(i);
}

static void wind_up(void)
{
	for (int i = 0; i < PROCESSES; i++)
		if (at(i)->pid)
			end(i);
}

static void quietly(void)
{
	settle();
	wind_up();
}

/* Process @i was told once, of the end of @of. */
static void check_told(int i, int of)
{
	MODEL_CHECK(ledger.told[i] == 1);
	MODEL_CHECK(ledger.error[i] == REASON(of));
}

static void dies(int id)
{
	end(id);
}

static void dies_in_peace(int id)
{
	end_for(id, 0);
}

/* -- monitors -- */

static void monitors(int id)
{
	MODEL_CHECK(sley_monitor(pid_of(1), &ledger.number) == 0);
	receive(id);
}

static void monitors_too(int id)
{
	(void)id;
	MODEL_CHECK(sley_monitor(pid_of(2), &ledger.another) == 0);
}

static void numbers_differ(void)
{
	MODEL_CHECK(ledger.number != ledger.another);
	wind_up();
}

static void told_of_it(void)
{
	settle();
	MODEL_CHECK(ledger.told[0] == 1);
	MODEL_CHECK(ledger.error[0] == REASON(1) || ledger.error[0] == -ESRCH);
	wind_up();
}

static void begin_monitored(void)
{
	begin();
	MODEL_CHECK(sley_monitor(pid_of(1), &ledger.number) == 0);
}

/* The process looks into its inbox before, or not. */
static void unmonitors(int id)
{
	if (model_choose(2))
		receive(id);
	sley_unmonitor(ledger.number);
	ledger.undone = true;
	MODEL_CHECK(mail_empty(&at(id)->control));
	receive(id);
}

static void told_at_most_once(void)
{
	settle();
	MODEL_CHECK(ledger.told[0] <= 1);
	wind_up();
}

/* A process that lives on does not keep monitors of processes that ended. */
static void nobody_watches_or_links(int i)
{
	uint32_t links, watchers;

	relations_count(at(i), &links, &watchers);
	MODEL_CHECK(watchers == 0 && links == 0);
}

static void forgotten(void)
{
	nobody_watches_or_links(1);
	wind_up();
}

/* -- links -- */

static void links(int id)
{
	ledger.link = sley_link(pid_of(1));
	MODEL_CHECK(ledger.link == 0 || ledger.link == -ESRCH);
	receive(id);
}

static void told_if_linked(void)
{
	settle();
	if (ledger.link == 0)
		check_told(0, 1);
	else
		MODEL_CHECK(!ledger.told[0]);
	wind_up();
}

static void not_told(void)
{
	settle();
	MODEL_CHECK(!ledger.told[0]);
	nobody_watches_or_links(0);
	wind_up();
}

static void begin_linked(void)
{
	begin();
	MODEL_CHECK(sley_link(pid_of(1)) == 0);
}

static void unlinks(int id)
{
	if (model_choose(2))
		receive(id);
	sley_unlink(pid_of(1));
	ledger.undone = true;
	MODEL_CHECK(mail_empty(&at(id)->control));
	receive(id);
}

static void links_back(int id)
{
	(void)id;
	MODEL_CHECK(sley_link(pid_of(0)) == 0);
}

static void unlinks_back(int id)
{
	(void)id;
	sley_unlink(pid_of(0));
}

static void linked_once(void)
{
	uint32_t links_of[2], watchers;

	for (int i = 0; i < 2; i++)
		relations_count(at(i), &links_of[i], &watchers);
	MODEL_CHECK(links_of[0] == 1 && links_of[1] == 1);
	wind_up();
}

/* Three processes in a chain; the outer two end. */
static void begin_chain(void)
{
	begin();
	selves[0].strand = &strands[2];
	MODEL_CHECK(sley_link(pid_of(0)) == 0);
	MODEL_CHECK(sley_link(pid_of(1)) == 0);
}

static void told_twice(void)
{
	settle();
	MODEL_CHECK(ledger.told[2] == 2);
	wind_up();
}

/* All with all; all end. */
static void begin_triangle(void)
{
	begin_chain();
	selves[0].strand = &strands[0];
	MODEL_CHECK(sley_link(pid_of(1)) == 0);
}

/* -- several things at once -- */

static void comes_and_goes(int id)
{
	MODEL_CHECK(sley_monitor(pid_of(1), &ledger.number) == 0);
	ledger.link = sley_link(pid_of(1));
	receive(id);
	sley_unmonitor(ledger.number);
	sley_unlink(pid_of(1));
	ledger.undone = true;
	receive(id);
}

static void joins_and_dies(int id)
{
	uint64_t number;

	MODEL_CHECK(sley_monitor(pid_of(1), &number) == 0);
	if (sley_link(pid_of(0)) == 0)
		receive(id);
	end(id);
}

/* -- calls -- */

static void begin_watched(void)
{
	begin();
	watch = model_alloc(sizeof(*watch));
	MODEL_CHECK(relation_watch(watch, pid_of(1), 7) == 0);
}

static void unwatches(int id)
{
	(void)id;
	relation_unwatch(watch);
	model_free(watch);
}

static void begin_with_frame(void)
{
	begin();
	watch = model_alloc(sizeof(*watch));
}

static void watches(int id)
{
	(void)id;
	ledger.link = relation_watch(watch, pid_of(1), 7);
}

static void called_if_watched(void)
{
	MODEL_CHECK(ledger.ports == (ledger.link == 0));
	model_free(watch);
	wind_up();
}

static void called_at_most_once(void)
{
	MODEL_CHECK(ledger.ports <= 1);
	wind_up();
}

MODEL(a_monitor_against_the_end, .setup = begin, .threads = { monitors, dies },
      .finish = told_of_it);
MODEL(each_monitor_has_its_number, .setup = begin,
      .threads = { monitors, monitors_too }, .finish = numbers_differ);
MODEL(unmonitor_against_the_end, .setup = begin_monitored,
      .threads = { unmonitors, dies }, .finish = told_at_most_once);
MODEL(watcher_and_target_end_at_once, .setup = begin_monitored,
      .threads = { dies, dies }, .finish = quietly);
MODEL(a_watcher_that_ends_is_forgotten, .setup = begin_monitored,
      .threads = { dies }, .finish = forgotten);
MODEL(a_link_against_the_end, .setup = begin, .threads = { links, dies },
      .finish = told_if_linked);
MODEL(unlink_against_the_end, .setup = begin_linked,
      .threads = { unlinks, dies }, .finish = told_at_most_once);
MODEL(a_link_against_an_end_in_peace, .setup = begin,
      .threads = { links, dies_in_peace }, .finish = not_told);
MODEL(unlink_against_an_end_in_peace, .setup = begin_linked,
      .threads = { unlinks, dies_in_peace }, .finish = not_told);
MODEL(one_fails_and_the_other_one_ends_in_peace, .setup = begin_linked,
      .threads = { dies, dies_in_peace }, .finish = quietly);
MODEL(both_ends_of_a_link_fail_at_once, .setup = begin_linked,
      .threads = { dies, dies }, .finish = quietly);
MODEL(two_that_link_each_other_are_linked_once, .setup = begin,
      .threads = { links, links_back }, .finish = linked_once);
MODEL(two_that_unlink_each_other, .setup = begin_linked,
      .threads = { unlinks, unlinks_back }, .finish = quietly);
MODEL(one_that_is_linked_with_two_that_fail, .setup = begin_chain,
      .threads = { dies, dies }, .finish = told_twice);
MODEL(a_watch_against_the_end, .setup = begin_with_frame,
      .threads = { watches, dies }, .finish = called_if_watched);
MODEL(unwatch_against_the_end, .setup = begin_watched,
      .threads = { unwatches, dies }, .finish = called_at_most_once);
MODEL(three_that_are_linked_fail_at_once, .setup = begin_triangle,
      .threads = { dies, dies, dies }, .finish = quietly);
MODEL(one_comes_and_goes_and_another_one_ends, .setup = begin,
      .threads = { comes_and_goes, dies }, .finish = quietly);
MODEL(a_third_one_joins_two_that_end, .setup = begin_linked,
      .threads = { dies, dies, joins_and_dies }, .finish = quietly);
MODEL(a_third_one_watches_and_links_while_two_come_and_go, .setup = begin,
      .threads = { comes_and_goes, dies, joins_and_dies }, .finish = quietly,
      .slow = true);
