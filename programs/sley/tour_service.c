/* SPDX-License-Identifier: MIT */
/*
 * tour_service.c - a stop of the tour: a service whose workers are killed.
 *
 * Clients call the desk.  The desk gives each job to an idle worker, and monitors
 * the workers: when a busy worker dies, the desk gives the job to another worker.
 * So a call that the desk has accepted is answered, however often workers die.
 * The supervisor restarts the workers, and each new worker reports to the desk.
 */
#include "tour.h"

#include "screen.h"

#include <errno.h>
#include <sley/sley.h>
#include <stdatomic.h>

#define NR_KILLS 1000
#define NR_WORKERS 4
#define NR_PLACES 64 /* new workers may report before the dead are buried */
#define NR_CLIENTS 8

enum { WORK, READY, RESULT };

static struct {
	_Atomic sley_pid workers[NR_PLACES]; /* hints for kill_workers() */
	atomic_int nr_deaths;
	atomic_long nr_calls, nr_answers, nr_again;
} service;

/* ---- a worker --------------------------------------------------------------------- */

static long cube(long n)
{
	return n * n * n;
}

static int work(void *arg)
{
	sley_pid desk = sley_name_find("desk");
	struct sley_msg *msg;

	(void)arg;
	sley_send(desk, READY, NULL, 0);
	while (sley_receive(&msg) == 0) {
		long result = cube(*(const long *)msg->data);

		sley_yield(); /* a good moment to be killed */
		sley_send(desk, RESULT, &result, sizeof(result));
	}
	return 0;
}

/* ---- the desk --------------------------------------------------------------------- */

struct desk {
	struct {
		sley_pid pid;         /* 0: no worker has this place      */
		struct sley_msg *job; /* the job under way; NULL: idle    */
	} place[NR_PLACES];
	struct sley_msg *waiting[NR_CLIENTS]; /* a ring: a job of each client */
	unsigned int first, nr_waiting;
};

static int place_of(const struct desk *desk, sley_pid pid)
{
	int i = 0;

	while (i < NR_PLACES && desk->place[i].pid != pid)
		i++;
	return i;
}

static void take_in(struct desk *desk, struct sley_msg *job)
{
	desk->waiting[(desk->first + desk->nr_waiting++) % NR_CLIENTS] = job;
}

/* Gives waiting jobs to idle workers. */
static void give_out(struct desk *desk)
{
	for (int i = 0; i < NR_PLACES && desk->nr_waiting; i++) {
		struct sley_msg *job = desk->waiting[desk->first];

		if (!desk->place[i].pid || desk->place[i].job)
			continue;
		desk->place[i].job = job;
		desk->first = (desk->first + 1) % NR_CLIENTS;
		desk->nr_waiting--;
		/* If the worker is dead, the down message is under way. */
		sley_send(desk->place[i].pid, WORK, job->data, job->size);
	}
}

static void greet(struct desk *desk, sley_pid worker)
{
	int i = place_of(desk, SLEY_NO_PID);
	uint64_t number;

	if (i == NR_PLACES || sley_monitor(worker, &number))
		sley_actor_exit(-ENOBUFS);
	desk->place[i].pid = worker;
	service.workers[i] = worker;
}

static void bury(struct desk *desk, sley_pid worker)
{
	int i = place_of(desk, worker);

	if (desk->place[i].job) {
		take_in(desk, desk->place[i].job);
		service.nr_again++;
	}
	desk->place[i].pid = SLEY_NO_PID;
	desk->place[i].job = NULL;
	service.workers[i] = SLEY_NO_PID;
	service.nr_deaths++;
}

static void answer(struct desk *desk, const struct sley_msg *msg)
{
	int i = place_of(desk, msg->from);

	if (i == NR_PLACES)
		return; /* a late message of a buried worker */
	sley_reply(desk->place[i].job, RESULT, msg->data, msg->size);
	sley_msg_free(desk->place[i].job);
	desk->place[i].job = NULL;
}

static int keep_desk(void *arg)
{
	struct desk desk = { .nr_waiting = 0 };
	struct sley_msg *msg;

	(void)arg;
	while (sley_receive(&msg) == 0) {
		if (msg->kind == SLEY_DOWN) {
			bury(&desk, msg->from);
		} else if (msg->tag == READY) {
			greet(&desk, msg->from);
		} else if (msg->tag == RESULT) {
			answer(&desk, msg);
		} else {
			sley_msg_keep(msg);
			take_in(&desk, msg);
		}
		give_out(&desk);
	}
	return 0;
}

/* ---- the clients, and the killer of workers ------------------------------------------ */

static void be_client(void *arg)
{
	sley_pid desk = sley_name_find("desk");
	struct sley_msg *reply;

	(void)arg;
	for (long i = 0; service.nr_deaths < NR_KILLS || i % 100; i++) {
		service.nr_calls++;
		if (sley_call_until(desk, WORK, &i, sizeof(i), &reply,
				    sley_after(10 * SLEY_SEC)))
			return;
		service.nr_answers += *(const long *)reply->data == cube(i);
		sley_msg_free(reply);
	}
}

static void kill_workers(void *arg)
{
	uint64_t end_ns = sley_after(20 * SLEY_SEC);

	(void)arg;
	for (unsigned int i = 0;
	     service.nr_deaths < NR_KILLS && sley_now() < end_ns; i++) {
		(void)sley_process_kill(service.workers[i % NR_PLACES]);
		if (i % 4 == 0)
			sley_yield();
	}
}

static const struct sley_child children[] = {
	{ "desk", keep_desk, .restart = SLEY_TEMPORARY },
	{ "worker", work, .restart = SLEY_PERMANENT, .count = NR_WORKERS },
};

static void use_service(void)
{
	struct sley_task task[NR_CLIENTS + 1];
	struct sley_group group = SLEY_GROUP_INIT;

	for (int i = 0; i < NR_CLIENTS; i++)
		sley_spawn(&group, &task[i], be_client, NULL);
	sley_spawn(&group, &task[NR_CLIENTS], kill_workers, NULL);
	sley_join(&group);
}

void tour_service(struct outcome *out)
{
	char number[SCREEN_NUMBER_SIZE];
	sley_pid pid;
	int err;

	outcome_start(out);
	err = sley_supervise(
		&pid, SLEY_SUPERVISOR_OPTIONS(.intensity = 1000 * NR_KILLS),
		children, 2);
	if (err) {
		outcome_trouble(out, "no supervisor: %s", sley_strerror(err));
		return;
	}
	use_service();
	outcome_stop(out);
	if (service.nr_deaths < NR_KILLS)
		outcome_trouble(out, "only %d workers died", service.nr_deaths);
	if (service.nr_answers != service.nr_calls)
		outcome_trouble(out, "%ld calls, %ld answers", service.nr_calls,
				service.nr_answers);
	outcome_result(out, "%s answered",
		       screen_count(number, (uint64_t)service.nr_answers));
	outcome_note(out,
		     "%ld calls, %ld answers; %d workers died, %ld of them at "
		     "work",
		     service.nr_calls, service.nr_answers, service.nr_deaths,
		     service.nr_again);
}
