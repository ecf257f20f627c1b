/* SPDX-License-Identifier: MIT */
/*
 * processes_only.h - for models of processes: functions that
 * src/actor/{process,mail, signal,step,receive,stop,table}.c need, and that no model
 * of these files calls.
 *
 * No process has a name, a link, a command, a scope or a limit.  Messages are on the
 * explorer's heap, so that a message that is freed too early, twice or never is
 * seen.  The places of processes are an array; a place that was given back is given
 * out again.
 *
 * Include this file in one source of a model, after crew.h or tasks_only.h.
 */
#ifndef SLEY_TESTS_MODEL_PROCESSES_ONLY_H
#define SLEY_TESTS_MODEL_PROCESSES_ONLY_H

#include "explorer.h"

#include "actor/mail/blob.h"
#include "actor/mail/bounded.h"
#include "actor/mail/call.h"
#include "actor/command/command.h"
#include "actor/process/exit_info.h"
#include "actor/name/name.h"
#include "actor/process/process.h"
#include "actor/relation/relation.h"
#include "actor/mail/receive.h"
#include "base/options.h"
#include "core/life/scope.h"
#include "core/task/spawn.h"

#include <errno.h>
#include <string.h>

static struct process process_places[1 << TABLE_CHUNK_BITS];
static uint32_t nr_places; /* given out so far */

/* In setup. */
__attribute__((unused)) static void processes_setup(void)
{
	memset(process_places, 0, 2 * sizeof(process_places[0]));
	nr_places = 0;
	sley__process_table[0] = process_places;
	for (uint32_t i = 0; i < 2; i++) {
		struct process *process = &process_places[i];

		process->index = i;
		process->inbox.word = INBOX_CLOSED;
		model_lock_word(&process->lock.word);
		model_name(&process->lock.word, "lock%u", i);
		model_name(&process->pid, "pid%u", i);
		model_name(&process->inbox.word, "inbox%u", i);
		model_name(&process->task.state, "state%u", i);
		model_name(&process->task.flags, "flags%u", i);
	}
}

/* ---- memory ------------------------------------------------------------------------ */

__attribute__((weak)) struct mem sley__program_mem;

#ifndef PROCESSES_IN_A_POOL
void *object_pool_get_slow(struct object_pool *pool,
			   struct object_pool_cache *cache)
{
	(void)cache;
	if (pool->object_size == sizeof(struct process)) {
		MODEL_CHECK(nr_places < 2);
		return &process_places[nr_places++];
	}
	return model_alloc(pool->object_size);
}

void object_pool_put_slow(struct object_pool *pool,
			  struct object_pool_cache *cache, void *object)
{
	(void)cache;
	if (pool->object_size == sizeof(struct process))
		nr_places--;
	else
		model_free(object);
}
#endif

/* ---- parts that are left out ---------------------------------------------------------- */

#define NOBODY __attribute__((weak))

NOBODY int options_copy(void *options, size_t size, const void *given)
{
	if (given)
		memcpy(options, given, size);
	else
		memset(options, 0, size);
	return 0;
}

NOBODY struct relations *relations_take(struct process *process,
					struct exit_info *ending)
{
	(void)process;
	(void)ending;
	return NULL;
}

NOBODY void relations_tell(struct relations *relations, sley_pid pid,
			   const struct exit_info *ending)
{
	(void)relations;
	(void)pid;
	(void)ending;
}

NOBODY void exit_info_drop(struct exit_info *ending)
{
	MODEL_CHECK(!ending->result);
}

NOBODY void exit_info_keep(struct process *process, sley_pid pid,
			   const struct exit_info *ending)
{
	(void)pid;
	(void)ending;
	MODEL_CHECK(!process);
}

NOBODY bool exit_info_leave(struct process *process)
{
	MODEL_CHECK(!process);
	return true;
}

NOBODY bool relation_arrived(struct process *process, struct sley_msg *msg)
{
	(void)process;
	(void)msg;
	return true;
}

NOBODY void relation_free(struct sley_msg *msg)
{
	MODEL_CHECK(!msg);
}

NOBODY int sley_link(sley_pid peer)
{
	MODEL_CHECK(!peer);
	return -ENOSYS;
}

NOBODY int sley_monitor(sley_pid target, uint64_t *number)
{
	(void)number;
	MODEL_CHECK(!target);
	return -ENOSYS;
}

NOBODY void sley_unmonitor(uint64_t number)
{
	(void)number;
}

NOBODY void names_forget(struct process *process)
{
	(void)process;
}

NOBODY void topics_forget(struct process *process)
{
	(void)process;
}

NOBODY int name_register(const char *name, sley_pid pid, sley_pid *owner)
{
	(void)name;
	(void)pid;
	(void)owner;
	return -ENOSYS;
}

NOBODY void name_of(sley_pid pid, char text[SLEY_NAME_MAX + 1])
{
	(void)pid;
	text[0] = 0;
}

NOBODY void sley_pid_format(sley_pid pid, char text[SLEY_PID_TEXT])
{
	(void)pid;
	text[0] = 0;
}

int after_fork_error(void); /* core/life/after_fork.h */

NOBODY int after_fork_error(void)
{
	MODEL_CHECK(!"nobody forks");
	return -ENOSYS;
}

NOBODY void scope_cancel_task(struct sley_task *task)
{
	(void)task;
}

#ifndef PROCESSES_WITH_SCOPES
NOBODY struct sley_scope *scope_innermost(const struct strand *strand)
{
	(void)strand;
	return NULL;
}

NOBODY bool scope_is_cancelled(const struct sley_scope *scope)
{
	MODEL_CHECK(!scope);
	return false;
}
#endif

NOBODY void yields_dispatch(struct process *process)
{
	(void)process;
}

NOBODY bool yields_complete(struct process *process, uint64_t tag)
{
	(void)process;
	(void)tag;
	return false;
}

NOBODY void yields_drop(struct process *process)
{
	(void)process;
}

NOBODY int bound_create(struct process *process, uint32_t limit,
			unsigned int overflow)
{
	(void)process;
	(void)limit;
	(void)overflow;
	return -ENOSYS;
}

NOBODY int bound_send(struct process *process, sley_pid to,
		      struct sley_msg *msg, uint64_t deadline_ns)
{
	(void)process;
	(void)to;
	(void)deadline_ns;
	MODEL_CHECK(!msg);
	return -ENOSYS;
}

NOBODY void bound_close(struct process *process)
{
	(void)process;
}

NOBODY struct sley_msg *bound_take(struct process *process)
{
	(void)process;
	return NULL;
}

NOBODY struct sley_msg *bound_take_aside(struct process *process,
					 uint32_t *owed)
{
	(void)process;
	(void)owed;
	return NULL;
}

NOBODY void bound_delivered(struct process *process, struct sley_msg *msg)
{
	(void)process;
	(void)msg;
}

NOBODY int port_deliver(struct process *port, sley_pid pid,
			struct sley_msg *msg)
{
	(void)port;
	(void)pid;
	MODEL_CHECK(!msg);
	return -ESRCH;
}

NOBODY void receive_timed_out(struct sley_msg *msg)
{
	MODEL_CHECK(!msg);
}

NOBODY void *sley_blob_data(struct sley_blob *blob)
{
	return blob;
}

NOBODY void blob_get(struct sley_blob *blob)
{
	(void)blob;
}

NOBODY void sley_blob_put(struct sley_blob *blob)
{
	(void)blob;
}

#endif
