/* SPDX-License-Identifier: MIT */
/*
 * ipc_client_source.c - the task that connects again: src/ipc/client_source.c.
 *
 * A driver that notices the end of its daemon kicks the source.  Nobody else would connect
 * again if all tasks wait for answers, so a connection that is down beside no such task is
 * a mistake, however short the moment was in which it went down.
 *
 * The driver is played: it says that the connection is lost, as lose() of
 * client_connection.c does, and kicks.  To connect takes one step and never fails.
 *
 * Complete for a driver beside the task that is about to end, also if another driver
 * notices a second end; for two drivers at once; and for a kick that finds no memory for
 * the task, beside a worker.  The worker is played, too: core_source.c has the real lines
 * by which it sleeps and takes.  The models do not see the clock of has().
 */
#include "explorer.h"

#include "never.h"

#include "ipc/client_source.c"

#include "os/futex.h"

#include <errno.h>

static struct sley_client client;
static struct request_memory ring;
static uint32_t pending;  /* of the source                          */
static uint32_t nr_tasks; /* scheduled, and not begun               */
static uint32_t bell;     /* wakes the worker                       */
static int inside;        /* plain: of the task that connects again */
static struct ledger {
	int refused; /* how often there is no memory */
	bool reconnected;
} ledger;

/* ---- what the models do without ------------------------------------------------------- */

static void ring_bell(void)
{
	(void)add_release(&bell, 1);
	os_futex_wake(&bell, 1);
}

void source_notify(struct sley_source *source)
{
	(void)source;
	if (!xchg_acq_rel(&pending, 1))
		ring_bell();
}

int sley_schedule_on(struct sley *rt, sley_fn *fn, void *arg,
		     const struct sley_options *options)
{
	(void)rt, (void)options;
	MODEL_CHECK(fn == reconnect && arg == &client);
	if (ledger.refused) {
		ledger.refused--;
		return -ENOMEM;
	}
	(void)add_release(&nr_tasks, 1);
	ring_bell();
	return 0;
}

void client_unlock(struct sley_client *of)
{
	spin_unlock(&of->lock);
}

/* The next daemon is there at once. */
int client_wait_live(struct sley_client *of, enum wait_flags flags)
{
	MODEL_CHECK(flags == WAIT_SHIELDED);
	model_access(&inside);
	MODEL_CHECK(inside == 0);
	inside = 1;
	client_lock(of);
	of->link.state = LINK_LIVE;
	client_unlock(of);
	model_access(&inside);
	inside = 0;
	return 0;
}

void client_poll(struct sley_client *of)
{
	(void)of;
}

int os_epoll_wait(int watch, uint32_t *tags, int max, uint64_t deadline_ns)
{
	(void)watch, (void)tags, (void)max, (void)deadline_ns;
	return 0;
}

bool os_fd_is_readable(int fd)
{
	(void)fd;
	return false;
}

/* Not reached: opening and closing, and descriptors. */
#define NOT_REACHED(name, type, ...)                                           \
	type name(__VA_ARGS__)                                                 \
	{                                                                      \
		never();                                                       \
		__builtin_unreachable();                                       \
	}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
NOT_REACHED(source_add, int, struct sley *rt, struct sley_source **out,
	    const struct source_ops *ops, void *arg, bool of_user)
NOT_REACHED(source_remove, void, struct sley_source *source)
NOT_REACHED((os_epoll_create), int, void)
NOT_REACHED((os_epoll_add), int, int watch, int fd, uint32_t tag)
NOT_REACHED((os_epoll_add_edge), int, int watch, int fd, uint32_t tag)
NOT_REACHED(os_epoll_remove, void, int watch, int fd)
NOT_REACHED(os_bell_clear, void, int fd)
NOT_REACHED(os_close, void, int fd)
#pragma GCC diagnostic pop

/* ---- the scene ------------------------------------------------------------------------- */

static void setup_with(enum link_state state, bool has_task)
{
	memset(&client, 0, sizeof(client));
	memset(&ring, 0, sizeof(ring));
	pending = nr_tasks = bell = 0;
	inside = 0;
	ledger = (struct ledger){ 0 };
	model_ledger(&ledger, sizeof(ledger));
	client.source = (struct sley_source *)&ring; /* only passed on */
	client.ring.memory = &ring;
	client.link.counts.connects = 1;
	client.link.state = state;
	client.reconnecting = client.nr_inside = has_task;
	model_lock_word(&client.lock.word);
	model_name(&client.lock.word, "lock");
	model_name(&client.reconnecting, "reconnecting");
	model_name(&client.orphaned, "orphaned");
	model_name(&client.nr_inside, "inside");
	model_name(&pending, "pending");
	model_name(&nr_tasks, "tasks");
	model_name(&bell, "bell");
}

static void run_task(void)
{
	if (xchg_acquire(&nr_tasks, 0))
		reconnect(&client);
}

static void task(int id)
{
	(void)id;
	reconnect(&client);
}

/* Without a task to run it for: the caller may be a task itself. */
static void lose(int id)
{
	bool was_live;

	(void)id;
	client_lock(&client);
	was_live = client.link.state == LINK_LIVE;
	if (was_live)
		client.link.state = LINK_LOST;
	client_unlock(&client);
	if (!was_live)
		return;
	client_source_kick(&client);
	run_task();
}

static void kick(int id)
{
	(void)id;
	client_source_kick(&client);
	run_task();
}

static void connected(void)
{
	MODEL_CHECK(client.link.state == LINK_LIVE);
	MODEL_CHECK(!client.reconnecting && !client.nr_inside && !nr_tasks);
}

/* ---- the end of the task --------------------------------------------------------------- */

/* The task has connected, and is about to look. */
static void setup_task_ends(void)
{
	setup_with(LINK_LIVE, true);
}

MODEL(a_loss_beside_the_end_of_the_task, .setup = setup_task_ends,
      .threads = { task, lose }, .finish = connected);

MODEL(two_losses_beside_the_end_of_the_task, .setup = setup_task_ends,
      .threads = { task, lose, lose }, .finish = connected,
      .slow_modes = MODEL_RA);

/* ---- one task at a time ---------------------------------------------------------------- */

static void setup_lost(void)
{
	setup_with(LINK_LOST, false);
}

MODEL(two_kicks_make_one_task, .setup = setup_lost, .threads = { kick, kick },
      .finish = connected);

/* ---- no memory for the task ------------------------------------------------------------- */

static void setup_no_memory(void)
{
	setup_with(LINK_LOST, false);
	ledger.refused = 1;
}

static void kick_in_vain(int id)
{
	(void)id;
	client_source_kick(&client);
}

static void worker(int id)
{
	(void)id;
	while (!ledger.reconnected) {
		uint32_t heard = load_acquire(&bell);

		if (xchg_acquire(&pending, 0) || has(&client)) {
			(void)take(&client);
		} else if (xchg_acquire(&nr_tasks, 0)) {
			reconnect(&client);
			ledger.reconnected = true;
		} else {
			(void)os_futex_wait(&bell, heard, UINT64_MAX);
		}
	}
}

MODEL(a_worker_tries_again_if_there_was_no_memory, .setup = setup_no_memory,
      .threads = { kick_in_vain, worker }, .finish = connected);
