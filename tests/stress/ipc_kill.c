/* SPDX-License-Identifier: MIT */
/*
 * ipc_kill.c - clients and daemons under load are killed, stopped and started again, at
 * random moments.
 *
 * Nothing that was acknowledged is lost, nothing ends twice, nothing that is not idempotent
 * runs twice; sessions, descriptors, shared memory and bookkeeping of the daemon are back
 * where they were, and so are descriptors and shared memory of clients.  A client checks its requests itself, against records on a page that all processes
 * share (ipc_scene.h).
 *
 * $IPC_KILLS is how often: clients, daemons, stops.  "make prove" has 10000, 500, 500.
 */
#include "stress/ipc_scene.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define RECLAIM_MAX_MS 10 /* p99, in "make prove" */

struct sums {
	unsigned long long acked, ended, unknown, forgotten;
	unsigned int run;
};

/* Of the first @nr clients, and all runs. */
static struct sums sums_of(const struct ipc_scene *scene, uint32_t nr)
{
	struct sums sums = { .run = atomic_load(&scene->page->nr_run) };

	for (uint32_t i = 0; i < nr; i++) {
		const struct ipc_client *client = &scene->page->clients[i];

		sums.acked += atomic_load(&client->nr_acked);
		sums.ended += atomic_load(&client->nr_ended);
		sums.unknown += atomic_load(&client->nr_unknown);
		sums.forgotten += atomic_load(&client->nr_forgotten);
	}
	return sums;
}

static double lost(const struct sums *sums)
{
	return (double)sums->acked - (double)sums->ended -
	       (double)sums->forgotten;
}

/* Short runs, of which there are many, are no lines of docs/PROOF.md. */
static bool is_long(void)
{
	return getenv("IPC_KILLS") != NULL;
}

/* ---- clients ----------------------------------------------------------------------------- */

/*
 * What is left of a client that was killed: its session ends soon.  What nobody waits for
 * runs; whatever runs, runs once.
 */
static void check_remains(struct ipc_scene *scene, uint32_t place)
{
	for (uint32_t i = 0; i < IPC_RECORDS; i++) {
		struct ipc_record *record =
			&scene->page->clients[place].records[i];
		uint32_t nr = atomic_load(&record->nr_run);

		CHECK_LE(nr, 1);
		if (record->forgotten && atomic_load(&record->acked))
			CHECK_EQ(nr, 1);
	}
}

static uint64_t kill_one(struct ipc_scene *scene, uint32_t place)
{
	uint32_t others = 0;
	uint64_t begin_ns, seen;

	for (uint32_t i = 0; i < IPC_CLIENTS; i++)
		others += scene->clients[i] && i != place;
	ipc_kill_client(scene, place);
	begin_ns = test_now_ns();
	seen = atomic_load(&scene->page->nr_looks);
	/* What the daemon has seen before does not count. */
	while (atomic_load(&scene->page->nr_looks) <= seen + 1 ||
	       atomic_load(&scene->page->nr_sessions) > others) {
		CHECK_LT(test_now_ns() - begin_ns, 20000000000ull);
		usleep(100);
	}
	return test_now_ns() - begin_ns;
}

static void await_session(struct ipc_scene *scene, uint32_t nr)
{
	CHECK_EVENTUALLY(atomic_load(&scene->page->nr_sessions) >= nr);
}

static void prove_kills(const struct ipc_scene *scene, uint32_t nr,
			double p50_ms, double p99_ms)
{
	struct sums sums = sums_of(scene, 1); /* the client that goes on */

	if (is_long())
		test_reliability(
			"clients killed", nr,
			(struct test_figure[]){
				{ "reclaim p50 ms", p50_ms },
				{ "reclaim p99 ms", p99_ms },
				{ "lost", lost(&sums) },
				{ "twice",
				  atomic_load(&scene->page->nr_twice) },
				{ "requests run", sums.run } },
			5);
}

TEST(clients_that_are_killed_leave_nothing_behind)
{
	uint32_t nr = cast_how_often("IPC_KILLS", 0, 60);
	double p50_ms, p99_ms;
	uint64_t *times_ns = calloc(nr, sizeof(*times_ns));
	struct ipc_scene scene;

	test_timeout(nr > 1000 ? 3000 : 30);
	ipc_begin(&scene);
	ipc_start_client(&scene, 0); /* it goes on */
	await_session(&scene, 1);
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t place = 1 + i % (IPC_CLIENTS - 1);

		ipc_start_client(&scene, place);
		/* Sometimes in the handshake, sometimes under load. */
		if (test_random(4))
			await_session(&scene, 2);
		cast_nap(3000);
		times_ns[i] = kill_one(&scene, place);
		check_remains(&scene, place);
	}
	ipc_finish_clients(&scene);
	ipc_check_nothing_is_left(&scene);
	p50_ms = (double)cast_percentile(times_ns, nr, 50) / 1e6;
	p99_ms = (double)cast_percentile(times_ns, nr, 99) / 1e6;
	printf("     %u kills, reclaimed within %.2f ms (p50), %.2f ms (p99)\n",
	       nr, p50_ms, p99_ms);
	if (nr >= 10000)
		CHECK_LT(p99_ms, RECLAIM_MAX_MS);
	test_count(atomic_load(&scene.page->nr_run));
	free(times_ns);
	ipc_check(&scene);
	prove_kills(&scene, nr, p50_ms, p99_ms);
	ipc_end(&scene);
}

/* ---- daemons ------------------------------------------------------------------------------ */

static void start_clients(struct ipc_scene *scene)
{
	for (uint32_t i = 0; i < IPC_CLIENTS; i++)
		ipc_start_client(scene, i);
	await_session(scene, IPC_CLIENTS);
}

static void prove(const struct ipc_scene *scene, const char *what, uint32_t nr,
		  const struct sums *sums)
{
	if (is_long())
		test_reliability(
			what, nr,
			(struct test_figure[]){
				{ "lost", lost(sums) },
				{ "twice",
				  atomic_load(&scene->page->nr_twice) },
				{ "unknown", (double)sums->unknown },
				{ "acknowledged", (double)sums->acked } },
			4);
}

/*
 * All clients have ended what they had: each has checked it.  If nobody was killed, each
 * request has run just once, and its outcome is known.
 */
static void finish(struct ipc_scene *scene, const char *what, uint32_t nr,
		   bool killed)
{
	struct sums sums;

	ipc_finish_clients(scene);
	ipc_check_nothing_is_left(scene);
	sums = sums_of(scene, IPC_CLIENTS);
	printf("     %u %s: %llu acknowledged, %llu of them completed "
	       "(%llu unknown) and %llu forgotten, %u runs\n",
	       nr, what, sums.acked, sums.ended, sums.unknown, sums.forgotten,
	       sums.run);
	CHECK_EQ(sums.ended + sums.forgotten, sums.acked);
	if (!killed) {
		CHECK_EQ(sums.unknown, 0);
		CHECK_EQ(sums.run, sums.acked);
	}
	test_count(sums.run);
	ipc_check(scene);
	prove(scene, what, nr, &sums);
	ipc_end(scene);
}

/* Some requests end before the next kill: else nothing is under load. */
static void await_progress(struct ipc_scene *scene)
{
	uint32_t seen = atomic_load(&scene->page->nr_run);

	CHECK_EVENTUALLY(atomic_load(&scene->page->nr_run) != seen);
}

/* What is done to the processes of a scene, again and again. */
struct disturbance {
	const char *what;
	void (*fn)(struct ipc_scene *scene);
	uint32_t nr;
	uint32_t nap_us; /* before, up to so long */
	bool kills;
};

/* Clients under load, and a disturbance. */
static void disturb(const struct disturbance *how)
{
	struct ipc_scene scene;

	test_timeout(how->nr > 100 ? 1500 : 30);
	ipc_begin(&scene);
	start_clients(&scene);
	for (uint32_t i = 0; i < how->nr; i++) {
		await_progress(&scene);
		cast_nap(how->nap_us);
		how->fn(&scene);
	}
	finish(&scene, how->what, how->nr, how->kills);
}

static void kill_daemon(struct ipc_scene *scene)
{
	ipc_kill_daemon(scene);
	cast_nap(2000);
	ipc_start_daemon(scene);
}

TEST(a_daemon_that_is_killed_loses_nothing)
{
	disturb(&(struct disturbance){ .what = "daemons killed",
				       .fn = kill_daemon,
				       .nr = cast_how_often("IPC_KILLS", 1, 12),
				       .nap_us = 8000,
				       .kills = true });
}

static void replace_daemon(struct ipc_scene *scene)
{
	ipc_stop_daemon(scene);
	ipc_start_daemon(scene);
}

/* In order, and the next one comes: nothing is unknown then. */
TEST(a_daemon_that_is_replaced_loses_nothing)
{
	disturb(&(struct disturbance){ .what = "daemons replaced",
				       .fn = replace_daemon,
				       .nr = cast_how_often("IPC_KILLS", 1, 12),
				       .nap_us = 8000 });
}

/* Any client, or the daemon, stands still for a while. */
static void freeze_one(struct ipc_scene *scene)
{
	uint32_t which = (uint32_t)test_random(IPC_CLIENTS + 1);
	pid_t pid = which < IPC_CLIENTS ? scene->clients[which] : scene->daemon;

	cast_stop(pid);
	cast_nap(5000);
	kill(pid, SIGCONT);
}

TEST(processes_that_are_stopped_for_a_while_lose_nothing)
{
	disturb(&(struct disturbance){ .what = "clients and daemons frozen",
				       .fn = freeze_one,
				       .nr = cast_how_often("IPC_KILLS", 2, 40),
				       .nap_us = 2000 });
}
