/* SPDX-License-Identifier: MIT */
/*
 * main.c - the simulator of daemon and clients: seeds, scenes, faults.
 *
 *   ./sim [--seeds N] [--first N]      N histories; the same ones each time
 *   ./sim --today [--seeds N]          others each day
 *   ./sim --seed N [--trace]           one history, and what happens in it
 *
 * A seed decides how many clients there are, what they do, which faults there are and when
 * each of them happens.  A seed has some kinds of faults and not others: bugs hide behind
 * one another.  After some time there are no more faults and no new requests.  Then all
 * must come to its end: requests, processes, memory, sessions, quotas.
 *
 * A failure names the seed and the command that plays it again.
 */
#include "ledger.h"
#include "sides.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CLIENT_LIVES 4u
#define DAEMONS_MAX 12u
#define NOISY_NS (12 * MS)
#define QUIET_NS (200 * MS) /* and all must be over */

static const char *program;

static struct client *clients[CLIENTS_MAX];
static struct client *all_clients[CLIENTS_MAX * CLIENT_LIVES];
static struct daemon *all_daemons[DAEMONS_MAX];
static uint32_t nr_clients, nr_all_clients, nr_daemons;
static struct daemon *current; /* the youngest daemon, or NULL */
static uint64_t next_daemon_ns, quiet_ns;
static uint32_t odds; /* of a fault in a turn: one in so many */

/* ---- processes --------------------------------------------------------------------------- */

static void add_client(uint32_t number)
{
	struct client *client;

	if (nr_all_clients == CLIENTS_MAX * CLIENT_LIVES)
		return;
	client = calloc(1, sizeof(*client));
	if (!client)
		abort();
	clients[number] = all_clients[nr_all_clients] = client;
	client_start(client, number, nr_all_clients);
	nr_all_clients++;
}

static void add_daemon(void)
{
	if (nr_daemons == DAEMONS_MAX)
		return;
	current = all_daemons[nr_daemons] = calloc(1, sizeof(*current));
	if (!current)
		abort();
	daemon_start(current, ++nr_daemons);
	if (nr_daemons == DAEMONS_MAX)
		current->process.fails = false;
}

/* The last one stays, and no fault meets it. */
static bool may_fall(void)
{
	return nr_daemons < DAEMONS_MAX && !world.quiet;
}

static void keep_a_daemon(void)
{
	if (current && !process_lives(&current->process)) {
		current = NULL;
		next_daemon_ns = world.now_ns + draw(300 * US);
		if (world.faults[FAULT_NO_DAEMON])
			next_daemon_ns += draw(5 * MS);
	}
	if (!current && (world.now_ns >= next_daemon_ns || world.quiet))
		add_daemon();
}

/* ---- faults ------------------------------------------------------------------------------ */

static void fault_of_daemon(struct daemon *daemon)
{
	if (world.faults[FAULT_KILL_DAEMON] && may_fall() && one_in(odds)) {
		process_kill(&daemon->process);
		return;
	}
	if (daemon == current && world.faults[FAULT_REPLACE] && may_fall() &&
	    one_in(odds)) {
		daemon->wants_stop = true;
		process_signal(&daemon->process);
		/* The next one may come before this one has ended. */
		if (one_in(2))
			add_daemon();
	}
	if (world.faults[FAULT_EJECT] && one_in(odds)) {
		daemon->eject = clients[draw(nr_clients)];
		process_signal(&daemon->process);
	}
}

static void fault_of_client(struct client *client)
{
	if (!world.faults[FAULT_KILL_CLIENT] || !one_in(2 * odds))
		return;
	process_kill(&client->process);
	add_client(client->number);
}

static void fault(struct process *process)
{
	if (world.quiet || !process_lives(process))
		return;
	if (world.faults[FAULT_STOP] && one_in(odds)) {
		process->stopped_until = world.now_ns + draw(MS);
		trace("%s is stopped", process->name);
	}
	if (process->generation)
		fault_of_daemon(process->self);
	else
		fault_of_client(process->self);
}

/* ---- a history --------------------------------------------------------------------------- */

static bool clients_have_ended(void)
{
	for (uint32_t i = 0; i < nr_all_clients; i++) {
		if (process_lives(&all_clients[i]->process))
			return false;
	}
	return true;
}

static void be_quiet(void)
{
	if (world.quiet || (world.now_ns < NOISY_NS && !clients_have_ended()))
		return;
	trace("no more faults");
	world.quiet = true;
	quiet_ns = world.now_ns;
	for (uint32_t i = 0; i < world.nr_processes; i++) {
		world.processes[i]->stopped_until = 0;
		process_signal(world.processes[i]);
	}
}

static struct process *turn(void)
{
	struct process *last = NULL;

	keep_a_daemon();
	HOLDS(world_turn() || !current, "all processes sleep for ever");
	last = world.last;
	return last;
}

/* All clients end, then the daemons. */
static void play(void)
{
	while (!clients_have_ended()) {
		struct process *last = turn();

		if (last)
			fault(last);
		be_quiet();
		HOLDS(!world.quiet || world.now_ns < quiet_ns + QUIET_NS,
		      "no end after %llu ms", QUIET_NS / MS);
	}
	world.quiet = true;
	for (uint32_t i = 0; i < nr_daemons; i++) {
		if (!process_lives(&all_daemons[i]->process))
			continue;
		all_daemons[i]->wants_stop = true;
		all_daemons[i]->process.stopped_until = 0;
		process_signal(&all_daemons[i]->process);
	}
	while (world_turn())
		;
	for (uint32_t i = 0; i < world.nr_processes; i++)
		HOLDS(!process_lives(world.processes[i]), "%s does not end",
		      world.processes[i]->name);
	HOLDS(!world.nr_shared, "%llu objects of shared memory are left",
	      (unsigned long long)world.nr_shared);
	HOLDS(!world.nr_connections, "%llu connections are left",
	      (unsigned long long)world.nr_connections);
}

static void run(uint64_t seed, bool trace)
{
	world_begin(seed, trace);
	ledger_begin();
	nr_all_clients = nr_daemons = 0;
	current = listening = NULL;
	next_daemon_ns = 0;
	for (uint32_t i = 0; i < NR_FAULTS; i++)
		world.faults[i] = one_in(3);
	odds = 20u << draw(5);
	nr_clients = 1 + draw(CLIENTS_MAX);
	for (uint32_t i = 0; i < nr_clients; i++)
		add_client(i);
	play();
	world_end();
	for (uint32_t i = 0; i < nr_all_clients; i++)
		free(all_clients[i]);
	for (uint32_t i = 0; i < nr_daemons; i++)
		free(all_daemons[i]);
}

/* ---- the program ------------------------------------------------------------------------- */

static void crashed(int signal_number)
{
	fprintf(stderr,
		"sim: seed %llu fails (signal %d); again, with all events:\n"
		"  %s --seed %llu --trace\n",
		(unsigned long long)world.seed, signal_number, program,
		(unsigned long long)world.seed);
	_exit(1);
}

static void print_counts(uint64_t nr_seeds, uint64_t first)
{
	const struct ledger_counts *counts = &ledger_counts;

	printf("%llu seeds from %llu: %llu requests, %llu runs, %llu completed "
	       "(%llu unknown, %llu without a daemon, %llu cancelled, "
	       "%llu late), %llu forgotten, %llu begun again, %llu kills, "
	       "%llu thrown out, %llu lives of rings\n",
	       (unsigned long long)nr_seeds, (unsigned long long)first,
	       (unsigned long long)counts->submitted,
	       (unsigned long long)counts->run,
	       (unsigned long long)counts->completed,
	       (unsigned long long)counts->unknown,
	       (unsigned long long)counts->host_down,
	       (unsigned long long)counts->cancelled,
	       (unsigned long long)counts->timed_out,
	       (unsigned long long)counts->forgotten,
	       (unsigned long long)counts->again,
	       (unsigned long long)counts->kills,
	       (unsigned long long)counts->ejected,
	       (unsigned long long)counts->lives);
}

int main(int argc, char **argv)
{
	uint64_t first = 1, nr_seeds = 300;
	bool trace = false;

	program = argv[0];
	for (int i = 1; i < argc; i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : "";

		if (!strcmp(argv[i], "--trace")) {
			trace = true;
		} else if (!strcmp(argv[i], "--today")) {
			first = (uint64_t)time(NULL) / 86400 * 1000000;
		} else if (!strcmp(argv[i], "--seeds")) {
			nr_seeds = strtoull(value, NULL, 0), i++;
		} else if (!strcmp(argv[i], "--first")) {
			first = strtoull(value, NULL, 0), i++;
		} else if (!strcmp(argv[i], "--seed")) {
			first = strtoull(value, NULL, 0), i++;
			nr_seeds = 1;
		} else {
			fprintf(stderr,
				"see the comment of tests/sim/main.c\n");
			return 2;
		}
	}
	(void)signal(SIGABRT, crashed);
	(void)signal(SIGSEGV, crashed);
	for (uint64_t i = 0; i < nr_seeds; i++)
		run(first + i, trace);
	print_counts(nr_seeds, first);
	prove("{\"kind\":\"simulation\",\"seeds\":%llu,\"requests\":%llu,"
	      "\"kills\":%llu,\"lives\":%llu}\n",
	      (unsigned long long)nr_seeds,
	      (unsigned long long)ledger_counts.submitted,
	      (unsigned long long)ledger_counts.kills,
	      (unsigned long long)ledger_counts.lives);
	return 0;
}
