/* SPDX-License-Identifier: MIT */
/*
 * supervisor_scene.h - children that write down when they begin and end.
 *
 * They are step processes: their init runs in the supervisor, so that what they
 * write then is in the order in which it starts them; close comes before the
 * supervisor hears of their end.  The log of a, b and c that were started and ended
 * in reverse order is "+a+b+c-c-b-a".
 */
#ifndef SLEY_TESTS_CONFORMANCE_ACTOR_SUPERVISOR_SCENE_H
#define SLEY_TESTS_CONFORMANCE_ACTOR_SUPERVISOR_SCENE_H

#include "conformance/bound.h"

/* Other tasks run meanwhile, in the single-threaded mode, too. */
#define LOG_MAX 256

enum { FAIL = 1, QUIT, PASS };

static struct {
	struct sley_mutex mutex;
	char text[LOG_MAX];
} record_of_all;

static inline void record(char sign, char name)
{
	size_t length;

	sley_mutex_lock(&record_of_all.mutex);
	length = strlen(record_of_all.text);
	if (length + 3 < LOG_MAX) {
		record_of_all.text[length] = sign;
		record_of_all.text[length + 1] = name;
	}
	sley_mutex_unlock(&record_of_all.mutex);
}

static inline void clear_record(void)
{
	sley_mutex_lock(&record_of_all.mutex);
	memset(record_of_all.text, 0, LOG_MAX);
	sley_mutex_unlock(&record_of_all.mutex);
}

/* A copy, since it may grow meanwhile. */
static inline void copy_record(char text[LOG_MAX])
{
	sley_mutex_lock(&record_of_all.mutex);
	memcpy(text, record_of_all.text, LOG_MAX);
	sley_mutex_unlock(&record_of_all.mutex);
}

static inline bool recorded(const char *text)
{
	char copy[LOG_MAX];

	copy_record(copy);
	return strcmp(copy, text) == 0;
}

static inline bool record_has(const char *text)
{
	char copy[LOG_MAX];

	copy_record(copy);
	return strstr(copy, text) != NULL;
}

#define CHECK_RECORD(text_)                                                    \
	do {                                                                   \
		char record_copy_[LOG_MAX];                                    \
		copy_record(record_copy_);                                     \
		CHECK_STR(record_copy_, text_);                                \
		clear_record();                                                \
	} while (0)
#define AWAIT_RECORD(text_)                                                    \
	do {                                                                   \
		uint64_t record_end_ = in_ms(20000);                           \
		while (!recorded(text_) && sley_now() < record_end_)           \
			CHECK_EQ(sley_sleep(SLEY_MSEC / 4), 0);                \
		CHECK_RECORD(text_);                                           \
	} while (0)

struct member {
	char name;
	bool stubborn;         /* does not end when asked to      */
	atomic_int init_error; /* what its init returns           */
	atomic_int step_error; /* what its first step ends with   */
	atomic_int lives;
	_Atomic sley_pid pid;     /* of its life                     */
	_Atomic uint64_t born_ns; /* when init was called the last time */
};

static struct member a = { .name = 'a' }, b = { .name = 'b' },
		     c = { .name = 'c' };

struct member_self {
	struct member *member;
	bool begun;
};

static inline int member_init(void *self, const char *method, const void *input,
			      size_t size)
{
	struct member_self *s = self;

	(void)method;
	CHECK_EQ(size, sizeof(struct member));
	s->member = (struct member *)(uintptr_t)input;
	s->member->born_ns = sley_now();
	if (s->member->init_error) {
		record('!', s->member->name);
		return s->member->init_error;
	}
	record('+', s->member->name);
	return 0;
}

static inline enum sley_step member_step(void *self,
					 struct sley_msg *const *msg, size_t nr,
					 struct sley_out *out)
{
	struct member_self *s = self;

	if (!s->begun) {
		s->begun = true;
		s->member->lives++;
		s->member->pid = sley_self();
		if (s->member->step_error)
			return sley_out_done(out, s->member->step_error);
	}
	for (size_t i = 0; i < nr; i++) {
		if (msg[i]->kind == SLEY_CANCEL && !s->member->stubborn)
			return sley_out_done(out, -ECANCELED);
		if (msg[i]->kind != SLEY_MESSAGE)
			continue;
		if (msg[i]->tag == FAIL)
			return sley_out_done(out, *(const int *)msg[i]->data);
		if (msg[i]->tag == QUIT)
			return sley_out_done(out, 0);
	}
	return SLEY_WAIT;
}

static inline void member_close(void *self, int reason)
{
	struct member_self *s = self;

	(void)reason;
	if (s->member->pid == sley_self() || !s->begun)
		s->member->pid = SLEY_NO_PID;
	record('-', s->member->name);
}

static const struct sley_behaviour member_behaviour = {
	.name = "member",
	.size = sizeof(struct member_self),
	.init = member_init,
	.step = member_step,
	.close = member_close,
};

static const struct sley_process_options trapping = {
	.size = sizeof(struct sley_process_options),
	.traps = true,
};

/* For a table of children: the process that does as @member_ says. */
#define MEMBER(member_, ...)                                                   \
	{                                                                      \
		.behaviour = &member_behaviour, .input = (member_),            \
		.input_size = sizeof(struct member), __VA_ARGS__               \
	}

/* It lives, and has had its first step: its pid. */
static inline sley_pid pid_of(struct member *member)
{
	CHECK_SOON(member->pid);
	return member->pid;
}

static inline void fail(struct member *member, int reason)
{
	CHECK_EQ(sley_send(pid_of(member), FAIL, &reason, sizeof(reason)), 0);
}

/* It fails, and is started again. */
static inline void fail_and_await_next(struct member *member)
{
	int lives;

	(void)pid_of(member);
	lives = member->lives;
	fail(member, -EIO);
	CHECK_SOON(member->lives > lives);
}

static inline uint64_t handled_by(sley_pid pid)
{
	struct sley_process_info info;

	CHECK_EQ(sley_process_inspect(pid, &info), 0);
	return info.handled;
}

/* And its supervisor has been told: as linked, and as who monitors. */
static inline void fail_and_tell(struct member *member, int reason,
				 sley_pid supervisor)
{
	uint64_t before = handled_by(supervisor);

	fail(member, reason);
	CHECK_SOON(handled_by(supervisor) >= before + 2);
}

static inline void quit(struct member *member)
{
	CHECK_EQ(sley_send(pid_of(member), QUIT, NULL, 0), 0);
}

static inline void kill_member(struct member *member)
{
	CHECK_EQ(sley_process_kill(pid_of(member)), 0);
}

/* ---- how somebody ends -------------------------------------------------------- */

struct watch {
	sley_pid target;
	sley_pid pid;
	atomic_bool set;
	atomic_bool over;
	atomic_int reason;
};

static inline int watch_main(void *arg)
{
	struct watch *watch = arg;
	struct sley_msg *msg;
	uint64_t number;

	CHECK_EQ(sley_monitor(watch->target, &number), 0);
	watch->set = true;
	CHECK_EQ(sley_receive(&msg), 0);
	CHECK_EQ(msg->kind, SLEY_DOWN);
	CHECK_EQ(msg->from, watch->target);
	CHECK_EQ(msg->tag, number);
	watch->reason = msg->error;
	watch->over = true;
	return 0;
}

static inline void watch_begin(struct watch *watch, sley_pid target)
{
	*watch = (struct watch){ .target = target };
	CHECK_EQ(sley_actor_spawn(&watch->pid, watch_main, watch, NULL), 0);
	CHECK_SOON(watch->set);
}

static inline int watch_end(struct watch *watch)
{
	CHECK_SOON(watch->over);
	CHECK_SOON(!sley_process_alive(watch->pid));
	return watch->reason;
}

/* It is asked to end, and does. */
static inline void cancel_and_wait(sley_pid pid)
{
	struct watch watch;

	watch_begin(&watch, pid);
	CHECK_EQ(sley_process_cancel(pid, -ECANCELED), 0);
	CHECK_EQ(watch_end(&watch), -ECANCELED);
}

static inline sley_pid
supervise_with(const struct sley_supervisor_options *options,
	       const struct sley_child *children, size_t nr)
{
	sley_pid pid = SLEY_NO_PID;

	CHECK_EQ(sley_supervise(&pid, options, children, nr), 0);
	CHECK(pid != SLEY_NO_PID);
	return pid;
}

/* A supervisor of @nr children that tolerates much. */
static inline sley_pid supervise(enum sley_strategy strategy,
				 const struct sley_child *children, size_t nr)
{
	return supervise_with(SLEY_SUPERVISOR_OPTIONS(.strategy = strategy,
						      .intensity = 1000),
			      children, nr);
}

/* A supervisor that gives up at one restart more. */
static inline sley_pid supervise_restarts(uint32_t nr_restarts,
					  const struct sley_child *children,
					  size_t nr)
{
	return supervise_with(SLEY_SUPERVISOR_OPTIONS(.intensity = nr_restarts,
						      .within_ns =
							      3600 * SLEY_SEC),
			      children, nr);
}

/* ---- what the supervisors report ---------------------------------------------- */

static atomic_int nr_given_up, nr_restarts;

static inline void take_report(void *self, const char *line)
{
	(void)self;
	CHECK(strstr(line, "gives up") || strstr(line, "cannot start") ||
	      strstr(line, "restarts"));
	if (strstr(line, "gives up"))
		atomic_fetch_add(&nr_given_up, 1);
	if (strstr(line, "restarts") && strstr(line, ": it ended: "))
		atomic_fetch_add(&nr_restarts, 1);
}

/* The reports are counted, and not printed. */
static inline struct sley *start_quiet(void)
{
	struct sley_config config = *test_config();

	config.report = take_report;
	return start_with(&config);
}

#endif
