/* SPDX-License-Identifier: MIT */
/*
 * crew.h - for models whose threads are workers.
 *
 * A runtime of a few workers in static memory: queues, seats and timers, no
 * stacks.  Model thread i is worker i, if there is such a worker; the other threads
 * are foreign threads.  The model thread that took a task runs the task, which never
 * blocks.
 *
 * Parts that a model does not link are left out: there are no forks, no trace and
 * no monitor, no cancel and no drain.
 */
#ifndef SLEY_TESTS_MODEL_CREW_H
#define SLEY_TESTS_MODEL_CREW_H

#include "lease_off.h"
#include "selves.h"

#include "core/life/drain.h"
#include "core/sched/place.h"
#include "core/sched/poller.h"
#include "core/sched/stack_shortage.h"
#include "core/sched/steal.h"
#include "core/sched/switch.h"
#include "core/trace/report.h"
#include "core/wait/holder.h"
#include "core/life/runtime.h"
#include "os/membarrier.h"
#include "os/symbol.h"
#include "os/thread.h"

#include <string.h>

#ifndef CREW_MAX
#define CREW_MAX 2
#endif

__attribute__((weak)) struct levels_differ sley__levels_differ;

static struct sley *rt;
static struct worker crew[CREW_MAX];
static struct worker *crew_table[CREW_MAX];
static struct sley_forks *crew_forks[CREW_MAX]; /* of each thread */

/* Each lock word is declared as a lock: the locks have models of their own. */
static void crew_name_worker(int i)
{
	model_lock_word(&crew[i].timers.lock.word);
	model_name(&crew[i].home.head, "home%d", i);
	model_name(&crew[i].lane.head, "lane%d", i);
	model_name(&crew[i].next, "next%d", i);
	model_name(&crew[i].seat.word, "seat%d", i);
	model_name(&crew[i].poke, "poke%d", i);
	model_name(&crew[i].ring.head, "head%d", i);
	model_name(&crew[i].ring.tail, "tail%d", i);
}

/* In zeroed memory of the caller. */
static void crew_set_up_in(struct sley *memory, unsigned int nr)
{
	rt = memory;
	memset(crew, 0, sizeof(crew));
	rt->worker = crew_table;
	rt->nr_workers = nr;
	rt->phase = PHASE_RUNNING;
	rt->config.tick_us = 1000;
	rt->membarrier = os_membarrier_setup();
	list_init(&rt->bound);
	sley__runqs = (struct runqs){ 0 };
	sley__levels_differ.yes = 0;
	runq_init(&rt->runq);
	idle_init(&rt->idle, nr, rt->membarrier);
	selves_set(&(struct self){ 0 });
	for (unsigned int i = 0; i < nr; i++) {
		crew_table[i] = &crew[i];
		crew[i].rt = rt;
		crew[i].strand = &crew[i].base;
		crew[i].forks = &crew_forks[i];
		crew[i].index = i;
		timers_init(&crew[i].timers);
		idle_seat_init(&crew[i].seat);
		list_init(&crew[i].parents);
		rand_seed(&crew[i].rand, i + 1);
		selves[1 + i] =
			(struct self){ .worker = &crew[i], .bound = rt };
		crew_name_worker((int)i);
	}
	model_lock_word(&rt->runq.lock.word);
	model_lock_word(&rt->idle.lock.word);
	model_lock_word(&sley__runqs.lock.word);
	model_name(&rt->runq.lock.word, "runq.lock");
	model_name(&rt->runq.hint, "hint");
	model_name(&rt->runq.has_first, "has_first");
	model_name(&rt->idle.lock.word, "idle.lock");
	model_name(&rt->idle.counts, "counts");
	model_name(&rt->spinner, "spinner");
}

static inline void crew_set_up(unsigned int nr)
{
	static struct sley memory;

	memset(&memory, 0, sizeof(memory));
	crew_set_up_in(&memory, nr);
}

/* ---- parts that are left out; a source that is linked comes first ---------- */

#define NOT_THERE __attribute__((weak))

/* switch.h names these; no task leaves a stack unless the model defines how. */
#ifndef CREW_LEAVES_STACKS
NOT_THERE struct strand *worker_spare_strand(struct worker *worker,
					     struct sley_task *task)
{
	(void)worker;
	(void)task;
	return NULL;
}

NOT_THERE void switch_finish_rare(struct worker *worker)
{
	(void)worker;
}
#endif

NOT_THERE bool worker_has_spare_strand(struct worker *worker)
{
	(void)worker;
	return true;
}

NOT_THERE void stack_shortage_note(struct worker *worker)
{
	(void)worker;
}

NOT_THERE void trace_switch(struct worker *worker, const struct strand *from,
			    const struct strand *to)
{
	(void)worker;
	(void)from;
	(void)to;
}

NOT_THERE void fiber_swap_fpu(struct fiber *from, struct fiber *to,
			      struct fiber_thread *thread)
{
	(void)from;
	(void)to;
	(void)thread;
}

NOT_THERE void os_alt_stack_set(struct os_alt_stack *alt_stack)
{
	(void)alt_stack;
}

NOT_THERE void os_alt_stack_unset(struct os_alt_stack *alt_stack)
{
	(void)alt_stack;
}

NOT_THERE struct sley_task *fork_steal(struct worker *worker,
				       struct worker *victim)
{
	(void)worker;
	(void)victim;
	return NULL;
}

NOT_THERE void victims_look_around(struct victims *victims, unsigned int worker)
{
	(void)victims;
	(void)worker;
}

NOT_THERE bool fork_stealable(struct worker *victim)
{
	(void)victim;
	return false;
}

NOT_THERE struct sley_task *fork_seize(struct worker *worker,
				       struct worker *victim)
{
	(void)worker;
	(void)victim;
	return NULL;
}

NOT_THERE bool fork_is_private(struct worker *victim)
{
	(void)victim;
	return false;
}

NOT_THERE void holder_misuse(const char *function, const char *rule,
			     uint64_t holder)
{
	(void)holder;
	sley__misuse(function, rule);
}

NOT_THERE uint64_t holder_current(void)
{
	return 0;
}

NOT_THERE bool fork_ask(struct worker *worker)
{
	(void)worker;
	return false;
}

NOT_THERE bool fork_ask_all(struct sley *runtime)
{
	(void)runtime;
	return false;
}

#ifndef CREW_HAS_SOURCES
/* There are no sources. */
NOT_THERE bool sources_exist(const struct sley *runtime)
{
	(void)runtime;
	return false;
}

NOT_THERE struct sley_task *source_pick(struct worker *worker)
{
	(void)worker;
	return NULL;
}

NOT_THERE bool source_takes_briefly(const struct sley_task *task)
{
	(void)task;
	return false;
}

NOT_THERE void sources_arm(struct worker *worker)
{
	(void)worker;
}

NOT_THERE bool sources_wait(struct worker *worker)
{
	(void)worker;
	return false;
}

NOT_THERE bool sources_have(struct worker *worker)
{
	(void)worker;
	return false;
}

NOT_THERE void sources_expect(struct sley *runtime)
{
	(void)runtime;
}

NOT_THERE bool sources_are_due(struct sley *runtime, bool asleep)
{
	(void)runtime;
	(void)asleep;
	return false;
}

NOT_THERE bool sources_were_used(struct sley *runtime)
{
	(void)runtime;
	return false;
}

NOT_THERE bool sources_shut(struct sley *runtime)
{
	(void)runtime;
	return false;
}

NOT_THERE void sources_open(struct sley *runtime)
{
	(void)runtime;
}

NOT_THERE void sources_end(struct sley *runtime)
{
	(void)runtime;
}
#endif

NOT_THERE void fork_leave_behind(struct worker *worker)
{
	(void)worker;
}

NOT_THERE void fork_come_back(struct strand *strand)
{
	(void)strand;
}

NOT_THERE void drain_signal(struct sley *runtime)
{
	(void)runtime;
	MODEL_CHECK(!"nobody drains");
}

NOT_THERE void runtime_cancel_strands(struct worker *worker)
{
	(void)worker;
}

NOT_THERE void monitor_wake(struct monitor *monitor)
{
	(void)monitor;
	MODEL_CHECK(!"there is no monitor");
}

#ifndef CREW_HASTENS
NOT_THERE void monitor_hasten(struct monitor *monitor)
{
	(void)monitor;
	MODEL_CHECK(!"there is no monitor");
}
#endif

NOT_THERE int poller_watch(struct sley *runtime, int fd)
{
	(void)runtime;
	(void)fd;
	return 0;
}
NOT_THERE void poller_unwatch(struct sley *runtime, int fd)
{
	(void)runtime;
	(void)fd;
}
NOT_THERE bool poller_sit(struct worker *worker, struct idle_look *look)
{
	(void)worker;
	(void)look;
	return false;
}

NOT_THERE void poller_leave(struct worker *worker)
{
	(void)worker;
}

NOT_THERE bool poller_wanted_settled(struct sley *runtime)
{
	(void)runtime;
	return false;
}

NOT_THERE void poller_look_after(struct sley *runtime)
{
	(void)runtime;
}

NOT_THERE void poller_ring_end(struct worker *worker)
{
	(void)worker;
}

NOT_THERE void poller_fini(struct sley *runtime)
{
	(void)runtime;
}

/* In a model that links the slab: there is a single chunk. */
NOT_THERE void *mem_alloc_aligned(struct mem *mem, size_t size, size_t align)
{
	static _Alignas(64 << 10) char chunk[64 << 10];

	(void)mem;
	MODEL_CHECK(size <= sizeof(chunk) && align == sizeof(chunk));
	return memset(chunk, 0, size);
}

#ifndef CREW_STARTS_THREADS
NOT_THERE void *mem_alloc(struct mem *mem, size_t size)
{
	(void)mem;
	return model_alloc(size);
}

NOT_THERE void mem_free(struct mem *mem, void *memory, size_t size)
{
	(void)mem;
	(void)size;
	model_free(memory);
}
#endif

#ifndef CREW_REPORTS
NOT_THERE void report(const struct sley *runtime, const char *format, ...)
{
	(void)runtime;
	MODEL_CHECK(!format);
}
#endif

NOT_THERE void os_symbol(char *out, size_t size, const void *address)
{
	(void)address;
	MODEL_CHECK(size == 0);
	(void)out;
}

NOT_THERE int os_thread_start(pthread_t *out, const char *name,
			      void *(*fn)(void *), void *arg)
{
	(void)out;
	(void)name;
	(void)fn;
	(void)arg;
	return -1;
}

#ifndef CREW_STARTS_THREADS
NOT_THERE int os_thread_start_on(pthread_t *out, const char *name,
				 void *(*fn)(void *), void *arg,
				 const struct sley_cpus *cpus, bool runs_code)
{
	(void)runs_code;
	(void)out;
	(void)name;
	(void)fn;
	(void)arg;
	(void)cpus;
	return -1;
}

NOT_THERE void os_thread_join(pthread_t thread)
{
	(void)thread;
}
#endif

NOT_THERE void stack_pool_trim(struct stack_pool *pool)
{
	(void)pool;
}

NOT_THERE void stack_pool_age(struct stack_pool *pool)
{
	(void)pool;
}

NOT_THERE void trace_record(struct trace_ring *ring, enum trace_kind kind,
			    const struct trace_subject *subject)
{
	(void)ring;
	(void)kind;
	(void)subject;
}

#endif
