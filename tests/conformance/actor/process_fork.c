/* SPDX-License-Identifier: MIT */
/*
 * process_fork.c - fork(2) and processes: the child has none of them, and may have
 * its own.
 */
#include <sys/wait.h>

#include "conformance/actor/process.h"

static void skip_sanitizers(void)
{
	if (test_sanitizer())
		test_skip("sanitizers do not survive fork() with threads");
	if (test_emulated())
		test_skip("qemu-user dies of threads in the forked child of a "
			  "process with threads");
}

/* The child calls @fn(@arg), and has done well if that returns in time. */
static void in_child(sley_fn *fn, void *arg)
{
	int status;
	pid_t pid = fork();

	CHECK_GE(pid, 0);
	if (pid == 0) {
		alarm(20);
		fn(arg);
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
}

struct parents {
	struct sley *rt;
	sley_pid pid[3]; /* a step process, an actor, one that is gone */
	atomic_bool done;
};

static int waits(void *arg)
{
	struct sley_msg *msg;

	(void)arg;
	while (sley_receive(&msg) == 0)
		;
	return 0;
}

static void has_nobody(void *arg)
{
	struct parents *p = arg;

	for (int i = 0; i < 3; i++) {
		CHECK_EQ(sley_send(p->pid[i], 1, "xyz", 4), -ESRCH);
		CHECK_EQ(sley_process_kill(p->pid[i]), -ESRCH);
		CHECK_EQ(sley_process_cancel(p->pid[i], 0), -ESRCH);
		CHECK(!sley_process_alive(p->pid[i]));
	}
	CHECK_EQ(sley_process_count(), 0);
	CHECK_EQ(sley_process_next(SLEY_NO_PID), SLEY_NO_PID);
	CHECK_EQ(sley_self(), SLEY_NO_PID);
}

static void cannot_spawn(void *arg)
{
	struct parents *p = arg;
	struct life life = { 0 };
	sley_pid pid;

	CHECK_EQ(sley_process_spawn(&pid, &living, &life, sizeof(life), NULL),
		 SLEY_EFORKED);
	CHECK_EQ(sley_process_spawn(&pid, &living, &life, sizeof(life),
				    SLEY_PROCESS_OPTIONS(.runtime = p->rt)),
		 SLEY_EFORKED);
	CHECK_EQ(sley_actor_spawn(&pid, waits, NULL, NULL), SLEY_EFORKED);
	CHECK_EQ(life.inits, 0);
}

/* As if nothing had been before. */
static void has_its_own(void *arg)
{
	struct parents *p = arg;
	struct sley_config config = config_of(2);
	struct sley *rt = start_with(&config);
	struct life life = { 0 };
	sley_pid pid = live(&life), other = actor(waits, NULL);

	for (int i = 0; i < 3; i++)
		CHECK(pid != p->pid[i] && other != p->pid[i]);
	for (int i = 0; i < 1000; i++) {
		CHECK_EQ(sley_send(pid, 1, "more than sixteen bytes", 24), 0);
		CHECK_EQ(sley_send(other, 1, NULL, 0), 0);
	}
	CHECK_SOON(life.messages == 1000);
	CHECK_EQ(sley_process_count(), 2);
	stop(rt);
	check_end(&life, -ECANCELED);
	has_nobody(p);
}

static void does_all(void *arg)
{
	cannot_spawn(arg);
	has_nobody(arg);
}

static void begin(struct parents *p, struct life *life)
{
	struct life gone = { 0 };

	p->rt = start();
	p->pid[0] = live(life);
	p->pid[1] = actor(waits, NULL);
	p->pid[2] = live(&gone);
	CHECK_EQ(sley_process_kill(p->pid[2]), 0);
	check_end(&gone, SLEY_EKILLED);
	CHECK_SOON(is_gone(p->pid[2]));
}

/* The parent notices nothing. */
static void end(struct parents *p, struct life *life)
{
	int before = life->messages;

	CHECK_EQ(sley_send(p->pid[0], 1, NULL, 0), 0);
	CHECK_SOON(life->messages > before);
	CHECK_EQ(sley_send(p->pid[1], 1, NULL, 0), 0);
	stop(p->rt);
	check_end(life, -ECANCELED);
}

TEST_WORKERS(a_child_of_fork_has_none_of_the_processes)
{
	struct life life = { 0 };
	struct parents p;

	skip_sanitizers();
	begin(&p, &life);
	in_child(does_all, &p);
	end(&p, &life);
}

TEST_WORKERS(a_child_of_fork_may_have_its_own)
{
	struct life life = { 0 };
	struct parents p;

	skip_sanitizers();
	begin(&p, &life);
	in_child(has_its_own, &p);
	end(&p, &life);
}

/* Takes every lock there is, again and again. */
static void *hammer(void *arg)
{
	struct parents *p = arg;

	while (!atomic_load(&p->done)) {
		struct life life = { 0 };
		sley_pid pid;

		CHECK_EQ(sley_process_spawn(
				 &pid, &living, &life, sizeof(life),
				 SLEY_PROCESS_OPTIONS(.runtime = p->rt)),
			 0);
		for (int i = 0; i < 20; i++) {
			(void)sley_send(p->pid[0], 1, "0123456789abcdefgh", 18);
			(void)sley_send(pid, 1, NULL, 0);
			(void)sley_process_cancel(pid, 0);
			(void)sley_process_kill(pid);
		}
		CHECK_EVENTUALLY(life.closes);
	}
	return NULL;
}

TEST_WORKERS(a_child_forked_amid_everything_finds_no_lock_held)
{
	struct life life = { 0 };
	struct parents p = { .done = false };
	pthread_t thread[3];

	skip_sanitizers();
	if (is_single())
		test_skip("only bound threads spawn here");
	begin(&p, &life);
	for (int i = 0; i < 3; i++)
		thread[i] = test_thread(hammer, &p);
	for (int i = 0; i < test_scale(16); i++)
		in_child(i % 2 ? has_its_own : does_all, &p);
	atomic_store(&p.done, true);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	end(&p, &life);
}

static int forks_here(void *arg)
{
	in_child(does_all, arg);
	return 0;
}

TEST_WORKERS(an_actor_that_forks_is_no_process_in_the_child)
{
	struct life life = { 0 };
	struct parents p;
	sley_pid pid;

	skip_sanitizers();
	begin(&p, &life);
	pid = actor(forks_here, &p);
	CHECK_SOON(is_gone(pid));
	end(&p, &life);
}
