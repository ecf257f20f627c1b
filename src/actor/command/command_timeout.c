/* SPDX-License-Identifier: MIT */
/*
 * command_timeout.c - see command_timeout.h.
 */
#include "actor/command/command_timeout.h"

#include "core/wait/timer.h"
#include "mem/object_pool.h"
#include "os/clock.h"

#include <errno.h>

struct command_timeout {
	struct alarm alarm;
	sley_pid pid;
	struct sley_msg *done;
	uint32_t left; /* by one of the two parties */
};

/* Whole cache lines, as pools need them. */
union room {
	struct command_timeout timeout;
	char size[128];
};

static struct object_pool pool = { .object_size = sizeof(union room) };

static struct command_timeout *of_alarm(struct alarm *alarm)
{
	return container_of(alarm, struct command_timeout, alarm);
}

/* The timeout exists until both parties have left it. */
static void hold(struct alarm *alarm)
{
	(void)alarm;
}

static void leave(struct command_timeout *timeout)
{
	if (xchg_acq_rel(&timeout->left, 1)) /* CT1 */
		command_timeout_free(timeout);
}

static void ring(struct alarm *alarm)
{
	struct command_timeout *timeout = of_alarm(alarm);

	(void)mail_send(timeout->pid, timeout->done);
	leave(timeout);
}

struct command_timeout *command_timeout_create(void)
{
	return object_pool_get(&pool, NULL);
}

void command_timeout_free(struct command_timeout *timeout)
{
	object_pool_put(&pool, NULL, timeout);
}

void command_timeout_start(struct command_timeout *timeout, sley_pid pid,
			   struct sley_msg *done, uint64_t timeout_ns)
{
	struct worker *worker = worker_current();
	uint64_t now_ns = os_now();

	sley_assert(worker);
	done->error = -ETIMEDOUT;
	*timeout = (struct command_timeout){
		.alarm = { .hold = hold, .ring = ring },
		.pid = pid,
		.done = done,
	};
	if (timeout_ns > UINT64_MAX - now_ns)
		timeout_ns = UINT64_MAX - now_ns;
	alarm_start(&worker->timers, &timeout->alarm, now_ns + timeout_ns);
}

void command_timeout_stop(struct command_timeout *timeout)
{
	if (!timer_stop(&timeout->alarm.timer)) {
		leave(timeout);
		return;
	}
	mail_free(timeout->done);
	command_timeout_free(timeout);
}
