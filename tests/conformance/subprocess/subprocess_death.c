/* SPDX-License-Identifier: MIT */
/*
 * subprocess_death.c - subprocesses that crash, exit, hang or are killed, and what
 * is left of them when the program is killed.
 */
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "conformance/subprocess/subprocess.h"

/* Which calls of one subprocess were begun: more than the subprocess remembers. */
static int fd_of_log = -1;

static int write_down(struct sley_subprocess_work *work)
{
	CHECK_EQ(write(fd_of_log, work->arg, 1), 1);
	test_nap_ms(5);
	return 0;
}

/* Until a byte is in here the call that crashes does not. */
static int fd_of_order = -1;

static int crash_when_told(struct sley_subprocess_work *work)
{
	char byte;

	CHECK_EQ(read(fd_of_order, &byte, 1), 1);
	return crash(work);
}

static int fork_and_hang(struct sley_subprocess_work *work)
{
	(void)work;
	if (fork() == 0)
		for (;;)
			pause();
	for (;;)
		pause();
	return 0;
}

/* ---- it fails what it held ------------------------------------------------------------ */

struct death {
	sley_subprocess_fn *fn;
	int arg;
	const char *text;
};

static void die_and_live_again(const struct sley_subprocess_options *options,
			       const struct death *death)
{
	struct sley_subprocess_result result = { .data = NULL };
	struct sley_subprocess *subprocess;

	begin_subprocesses();
	subprocess = subprocess_new(options);
	CHECK_EQ(sley_subprocess_call(subprocess, count_calls, NULL, 0, NULL),
		 1);
	CHECK_EQ(sley_subprocess_call(subprocess, death->fn, &death->arg,
				      sizeof(death->arg), &result),
		 SLEY_ECHILD);
	CHECK_EQ(result.outcome, SLEY_OUTCOME_ENDPOINT);
	CHECK_EQ(result.code, SLEY_ECHILD);
	CHECK_STR(result.text, death->text);
	/* Another one, which begins from the beginning. */
	CHECK_EQ(sley_subprocess_call(subprocess, count_calls, NULL, 0, NULL),
		 1);
	CHECK_EQ(sley_subprocess_restarts(subprocess), 1);
	sley_subprocess_destroy(subprocess);
	sley_subprocesses_exit();
}

TEST(s24_a_crash_fails_the_call_and_says_so)
{
	die_and_live_again(
		SLEY_SUBPROCESS_OPTIONS(.name = "lab"),
		&(struct death){ .fn = crash,
				 .text = "crash: lab was killed by signal 11 "
					 "(Segmentation fault)" });
}

TEST(s24_an_exit_fails_the_call_and_says_so)
{
	die_and_live_again(
		NULL, &(struct death){ .fn = leave,
				       .arg = 3,
				       .text = "leave: subprocess exited with "
					       "status 3" });
}

TEST(s24_a_hang_is_ended_at_its_deadline)
{
	die_and_live_again(
		SLEY_SUBPROCESS_OPTIONS(.call_ns = 500 * SLEY_MSEC),
		&(struct death){
			.fn = hang,
			.text = "hang: subprocess was killed: a call took "
				"longer than 500 ms" });
}

TEST(s24_many_calls_have_a_deadline_each)
{
	const unsigned int ms = 60;
	struct sley_subprocess *subprocess;

	begin_subprocesses();
	subprocess = subprocess_new(
		SLEY_SUBPROCESS_OPTIONS(.call_ns = 10 * SLEY_SEC));
	for (int i = 0; i < 3; i++)
		CHECK_EQ(sley_subprocess_call(subprocess, nap, &ms, sizeof(ms),
					      NULL),
			 0);
	CHECK_EQ(sley_subprocess_restarts(subprocess), 0);
	sley_subprocess_destroy(subprocess);
	sley_subprocesses_exit();
}

/* ---- and nothing else ------------------------------------------------------------------ */

#define NR_CALLS 8

struct one_of_many {
	struct sley_subprocess *subprocess;
	sley_subprocess_fn *fn;
	unsigned char number;
	int code;
	int turn; /* how many have called before */
	int *nr_turns;
};

/* There is one worker: the next one calls when this one waits. */
static void call_one(void *arg)
{
	struct one_of_many *one = arg;

	one->turn = (*one->nr_turns)++;
	one->code = sley_subprocess_call(one->subprocess, one->fn, &one->number,
					 sizeof(one->number), NULL);
}

struct tell {
	const int *nr_turns;
	int fd;
};

static void tell_when_all_wait(void *arg)
{
	struct tell *tell = arg;

	while (*tell->nr_turns < NR_CALLS)
		CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
	CHECK_EQ(write(tell->fd, "", 1), 1);
}

/* The fourth kills it, while others wait behind.  How many were begun? */
static int kill_with_many(const struct sley_subprocess_options *options,
			  struct one_of_many *many)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_config config;
	struct sley_task tasks[NR_CALLS];
	struct sley_subprocess *subprocess;
	unsigned char log[2 * NR_CALLS];
	int fd[2], order[2], nr, nr_turns = 0;
	struct tell tell = { &nr_turns, -1 };
	struct sley_task teller;
	struct sley *rt;

	CHECK_EQ(pipe(fd), 0);
	CHECK_EQ(pipe(order), 0);
	fd_of_log = fd[1];
	fd_of_order = order[0];
	tell.fd = order[1];
	CHECK_EQ(sley_subprocess_register("write_down", write_down), 0);
	CHECK_EQ(sley_subprocess_register("crash_when_told", crash_when_told),
		 0);
	begin_subprocesses();
	config = config_of(1);
	rt = start_with(&config);
	subprocess = subprocess_new(options);
	for (int i = 0; i < NR_CALLS; i++) {
		many[i] = (struct one_of_many){ .subprocess = subprocess,
						.fn = i == 3 ? crash_when_told
							     : write_down,
						.number = (unsigned char)i,
						.nr_turns = &nr_turns };
		sley_spawn(&group, &tasks[i], call_one, &many[i]);
	}
	sley_spawn(&group, &teller, tell_when_all_wait, &tell);
	sley_join(&group);
	close(order[0]);
	close(order[1]);
	CHECK_EQ(sley_subprocess_restarts(subprocess), 1);
	sley_subprocess_destroy(subprocess);
	stop(rt);
	sley_subprocesses_exit();
	close(fd[1]);
	nr = (int)read(fd[0], log, sizeof(log));
	close(fd[0]);
	return nr;
}

TEST(s24_what_was_not_begun_is_run_by_the_next_one)
{
	struct one_of_many many[NR_CALLS];
	int nr = kill_with_many(NULL, many);

	for (int i = 0; i < NR_CALLS; i++)
		CHECK_EQ(many[i].code, i == 3 ? SLEY_ECHILD : 0);
	CHECK_EQ(nr, NR_CALLS - 1);
}

TEST(s24_or_fails_with_it_if_that_is_wanted)
{
	struct one_of_many many[NR_CALLS];
	int nr = kill_with_many(SLEY_SUBPROCESS_OPTIONS(.fail_queued = true,
							.depth = NR_CALLS),
				many);

	for (int i = 0; i < NR_CALLS; i++) {
		bool before = many[i].turn < many[3].turn;

		CHECK_EQ(many[i].code, before ? 0 : SLEY_ECHILD);
	}
	CHECK_EQ(nr, many[3].turn);
	CHECK_LT(many[3].turn, NR_CALLS - 1); /* some were behind */
}

/* ---- how often -------------------------------------------------------------------------- */

TEST(s24_a_subprocess_that_dies_too_often_is_down_and_says_so)
{
	struct sley_subprocess_result result = { .data = NULL };
	struct sley_subprocess *subprocess;

	begin_subprocesses();
	subprocess = subprocess_new(SLEY_SUBPROCESS_OPTIONS(.max_restarts = 2));
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(sley_subprocess_call(subprocess, crash, NULL, 0,
					      &result),
			 SLEY_ECHILD);
		CHECK_STR(result.text,
			  "crash: subprocess was killed by signal 11 "
			  "(Segmentation fault)");
	}
	CHECK_EQ(sley_subprocess_call(subprocess, add_one, NULL, 0, &result),
		 SLEY_ECHILD);
	CHECK_STR(result.text, "add_one: subprocess is down, it was killed by "
			       "signal 11 (Segmentation fault)");
	CHECK_EQ(result.outcome, SLEY_OUTCOME_ENDPOINT);
	CHECK_EQ(sley_subprocess_restarts(subprocess), 2);
	CHECK_EQ(sley_subprocess_pid(subprocess), 0);
	sley_subprocess_destroy(subprocess);
	sley_subprocesses_exit();
}

TEST(s24_a_subprocess_may_have_one_life)
{
	struct sley_subprocess *subprocess;

	begin_subprocesses();
	subprocess = subprocess_new(
		SLEY_SUBPROCESS_OPTIONS(.max_restarts = SLEY_SUBPROCESS_NEVER));
	CHECK_EQ(sley_subprocess_call(subprocess, crash, NULL, 0, NULL),
		 SLEY_ECHILD);
	CHECK_EQ(sley_subprocess_call(subprocess, count_calls, NULL, 0, NULL),
		 SLEY_ECHILD);
	CHECK_EQ(sley_subprocess_restarts(subprocess), 0);
	sley_subprocess_destroy(subprocess);
	sley_subprocesses_exit();
}

TEST(s24_a_program_that_ignores_its_children_is_told_all_the_same)
{
	struct sley_subprocess *subprocess;

	CHECK(signal(SIGCHLD, SIG_IGN) != SIG_ERR);
	begin_subprocesses();
	subprocess = subprocess_new(NULL);
	CHECK_EQ(sley_subprocess_call(subprocess, crash, NULL, 0, NULL),
		 SLEY_ECHILD);
	check_add_one(subprocess, 1);
	sley_subprocess_destroy(subprocess);
	sley_subprocesses_exit();
}

TEST(s24_an_idle_subprocess_that_is_killed_is_replaced)
{
	struct sley_subprocess *subprocess;

	begin_subprocesses();
	subprocess = subprocess_new(NULL);
	CHECK_EQ(kill(sley_subprocess_pid(subprocess), SIGKILL), 0);
	CHECK_EVENTUALLY(sley_subprocess_restarts(subprocess) == 1);
	check_add_one(subprocess, 1);
	sley_subprocess_destroy(subprocess);
	sley_subprocesses_exit();
}

/* ---- the beginning ------------------------------------------------------------------------ */

static int set_up_well(struct sley_subprocess_work *work)
{
	(void)work;
	test_nap_ms(30);
	return count_calls(work);
}

static int refuse(struct sley_subprocess_work *work)
{
	(void)work;
	return -ENODEV;
}

static void begin_starters(void)
{
	CHECK_EQ(sley_subprocess_register("set_up_well", set_up_well), 0);
	CHECK_EQ(sley_subprocess_register("refuse", refuse), 0);
	begin_subprocesses();
}

TEST(s25_a_subprocess_is_ready_when_it_says_so)
{
	struct sley_subprocess *subprocess;

	begin_starters();
	subprocess = subprocess_new(
		SLEY_SUBPROCESS_OPTIONS(.on_start = set_up_well));
	CHECK_EQ(sley_subprocess_call(subprocess, count_calls, NULL, 0, NULL),
		 2);
	CHECK_EQ(sley_subprocess_call(subprocess, crash, NULL, 0, NULL),
		 SLEY_ECHILD);
	CHECK_EQ(sley_subprocess_call(subprocess, count_calls, NULL, 0, NULL),
		 2);
	sley_subprocess_destroy(subprocess);
	sley_subprocesses_exit();
}

static char start_arg[SLEY_SUBPROCESS_DATA_MAX + 1];
static size_t nr_start_bytes;

static int remember_bytes(struct sley_subprocess_work *work)
{
	const char *arg = work->arg;

	nr_start_bytes = work->arg_size;
	for (size_t i = 0; i < work->arg_size; i++) {
		if (arg[i] != (char)i)
			return -EBADMSG;
	}
	return 0;
}

static int say_bytes(struct sley_subprocess_work *work)
{
	(void)work;
	return (int)nr_start_bytes;
}

TEST(s25_each_life_begins_with_the_argument_of_its_start)
{
	const size_t sizes[] = { 0, 1, SLEY_SUBPROCESS_DATA_MAX,
				 SLEY_SUBPROCESS_DATA_MAX + 1 };

	CHECK_EQ(sley_subprocess_register("remember_bytes", remember_bytes), 0);
	CHECK_EQ(sley_subprocess_register("say_bytes", say_bytes), 0);
	begin_subprocesses();
	for (size_t i = 0; i < sizeof(start_arg); i++)
		start_arg[i] = (char)i;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct sley_subprocess *subprocess = NULL;
		int err = sley_subprocess_create(
			&subprocess,
			SLEY_SUBPROCESS_OPTIONS(.on_start = remember_bytes,
						.start_arg = start_arg,
						.start_size = sizes[i]));

		if (sizes[i] > SLEY_SUBPROCESS_DATA_MAX) {
			CHECK_EQ(err, -EMSGSIZE);
			continue;
		}
		CHECK_EQ(err, 0);
		for (int life = 0; life < 3; life++) {
			/* This call has the slot of the argument, at first. */
			check_add_one(subprocess, 7);
			CHECK_EQ(sley_subprocess_call(subprocess, say_bytes,
						      NULL, 0, NULL),
				 (int)sizes[i]);
			CHECK_EQ(sley_subprocess_call(subprocess, crash, NULL,
						      0, NULL),
				 SLEY_ECHILD);
		}
		sley_subprocess_destroy(subprocess);
	}
	sley_subprocesses_exit();
}

TEST(s25_who_does_not_become_ready_is_an_error)
{
	struct sley_subprocess *subprocess = NULL;

	begin_starters();
	CHECK_EQ(sley_subprocess_create(
			 &subprocess,
			 SLEY_SUBPROCESS_OPTIONS(.on_start = refuse)),
		 -ENODEV);
	CHECK_EQ(sley_subprocess_create(&subprocess,
					SLEY_SUBPROCESS_OPTIONS(.on_start =
									crash)),
		 SLEY_ECHILD);
	CHECK_EQ(sley_subprocess_create(
			 &subprocess,
			 SLEY_SUBPROCESS_OPTIONS(.on_start = hang,
						 .start_ns = 50 * SLEY_MSEC)),
		 -ETIMEDOUT);
	CHECK(subprocess == NULL);
	/* Nothing of them is left. */
	subprocess = subprocess_new(NULL);
	check_add_one(subprocess, 7);
	sley_subprocess_destroy(subprocess);
	sley_subprocesses_exit();
}

/* ---- orphans --------------------------------------------------------------------------------- */

/* In a process that will be killed; its own subprocesses are told to @fd. */
static void be_a_parent(int fd)
{
	struct sley_subprocess *subprocess[2];
	pid_t pids[3];

	CHECK_EQ(sley_subprocess_register("fork_and_hang", fork_and_hang), 0);
	begin_subprocesses();
	for (int i = 0; i < 2; i++) {
		subprocess[i] = subprocess_new(NULL);
		pids[i] = sley_subprocess_pid(subprocess[i]);
	}
	pids[2] = getpid();
	CHECK_EQ(write(fd, pids, sizeof(pids)), sizeof(pids));
	(void)!sley_subprocess_call(subprocess[1], fork_and_hang, NULL, 0,
				    NULL);
}

static int nr_children(void)
{
	char text[64];
	ssize_t size;
	int fd, nr = 0;

	snprintf(text, sizeof(text), "/proc/self/task/%d/children", getpid());
	fd = open(text, O_RDONLY);
	CHECK_GE(fd, 0);
	while ((size = read(fd, text, sizeof(text))) > 0) {
		for (ssize_t i = 0; i < size; i++)
			nr += text[i] == ' ';
	}
	close(fd);
	return nr;
}

/* All orphans come here; they must come dead. */
TEST(rs16_subprocesses_end_with_the_program_that_is_killed)
{
	pid_t pids[3], parent;
	uint64_t end_ns;
	int fd[2];

	skip_where_fork_hurts();
	CHECK_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	CHECK_EQ(pipe(fd), 0);
	parent = fork();
	if (parent == 0)
		be_a_parent(fd[1]);
	CHECK_EQ(read(fd[0], pids, sizeof(pids)), sizeof(pids));
	CHECK_EQ(pids[2], parent);
	test_nap_ms(20);
	CHECK_EQ(kill(parent, SIGKILL), 0);
	end_ns = test_now_ns() + (test_is_slow() ? 10 : 1) * SLEY_SEC;
	while (nr_children() > 0) {
		(void)waitpid(-1, NULL, WNOHANG);
		CHECK_LT(test_now_ns(), end_ns);
		test_nap_ms(1);
	}
	for (int i = 0; i < 2; i++)
		CHECK_EQ(kill(pids[i], 0), -1);
	close(fd[0]);
	close(fd[1]);
}

TEST(rs16_subprocesses_end_with_their_server)
{
	struct sley_subprocess_result result = { .data = NULL };
	struct sley_subprocess *subprocess;
	char text[64];
	int fd, server;
	ssize_t size;
	pid_t pid;

	begin_subprocesses();
	subprocess = subprocess_new(NULL);
	snprintf(text, sizeof(text), "/proc/self/task/%d/children", getpid());
	fd = open(text, O_RDONLY);
	size = read(fd, text, sizeof(text) - 1);
	CHECK_GT(size, 0);
	text[size] = '\0';
	close(fd);
	server = atoi(text);
	pid = sley_subprocess_pid(subprocess);
	/* The subprocess comes here when its server is gone, and it must come dead. */
	CHECK_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	CHECK_EQ(kill(server, SIGKILL), 0);
	CHECK_EVENTUALLY(waitpid(pid, NULL, WNOHANG) == pid);
	CHECK_EVENTUALLY(sley_subprocess_pid(subprocess) == 0);
	CHECK_EQ(sley_subprocess_call(subprocess, add_one, NULL, 0, &result),
		 SLEY_ECHILD);
	CHECK_STR(result.text,
		  "add_one: subprocess is down, it has ended with the "
		  "fork server");
	sley_subprocess_destroy(subprocess);
	CHECK_EQ(sley_subprocess_create(&subprocess, NULL), SLEY_ECHILD);
	sley_subprocesses_exit();
}

/* ---- fork() ------------------------------------------------------------------------------------ */

TEST(a_process_that_was_forked_has_none_of_them_and_may_have_its_own)
{
	struct sley_subprocess *subprocess, *own = NULL;
	int status;
	pid_t pid;

	if (test_sanitizer())
		test_skip("sanitizers do not survive fork() with threads");
	begin_subprocesses();
	subprocess = subprocess_new(NULL);
	pid = fork();
	if (pid == 0) {
		CHECK_EQ(sley_subprocess_call(subprocess, count_calls, NULL, 0,
					      NULL),
			 SLEY_EFORKED);
		CHECK_EQ(sley_subprocess_create(&own, NULL), SLEY_EFORKED);
		CHECK_EQ(sley_subprocesses_init(), 0);
		own = subprocess_new(NULL);
		check_add_one(own, 5);
		/* Nor when there is a server again: the ring is the parent's. */
		alarm(20);
		CHECK_EQ(sley_subprocess_call(subprocess, count_calls, NULL, 0,
					      NULL),
			 SLEY_EFORKED);
		sley_subprocess_destroy(own);
		sley_subprocesses_exit();
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	check_add_one(subprocess, 6);
	sley_subprocess_destroy(subprocess);
	sley_subprocesses_exit();
}

TEST_ABORTS(a_subprocess_is_destroyed_by_the_process_that_created_it,
	    "the subprocess belongs to the process that created it")
{
	struct sley_subprocess *subprocess;
	int status;

	if (test_sanitizer())
		test_skip("sanitizers do not survive fork() with threads");
	begin_subprocesses();
	subprocess = subprocess_new(NULL);
	if (fork() == 0) {
		alarm(20);
		CHECK_EQ(sley_subprocesses_init(), 0);
		sley_subprocess_destroy(subprocess);
	}
	CHECK_GT(wait(&status), 0);
	CHECK_EQ(WTERMSIG(status), SIGABRT);
	abort();
}
