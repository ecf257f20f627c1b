/* SPDX-License-Identifier: MIT */
/*
 * runtime.c - <sley/runtime.h>: checks the user's arguments, and passes them on.
 */
#include <sley/runtime.h>

#include "actor/process/stop.h"
#include "base/options.h"
#include "core/life/drain.h"
#include "core/life/after_fork.h"
#include "core/life/runtime.h"
#include "core/task/spawn.h"
#include "core/trace/report.h"
#include "domain/membership.h"
#include "os/clock.h"
#include "os/cpus.h"
#include "os/env.h"
#include "os/topo.h"

#include <errno.h>
#include <sley/error.h>
#include <sley/version.h>
#include <string.h>

#define STACK_KIB_DEFAULT 256
#define STACK_CACHE_DEFAULT 64
#define BLOCKING_IDLE_MS_DEFAULT 10000
#define BLOCKING_MAX_DEFAULT 512
#define TICK_US_DEFAULT 1000
#define WATCHDOG_MS_DEFAULT 100
#define TICK_US_MIN 100
#define TICK_US_MAX 10000
#define SPIN_US_DEFAULT 20
#define SPIN_US_MAX 1000000

/* Puts the CPUs that the workers may use into @cpus, and into config->cpus. */
static int complete_placement(struct sley_config *config,
			      struct sley_cpus *cpus)
{
	if (config->placement > SLEY_PLACE_CUSTOM ||
	    (config->placement == SLEY_PLACE_CUSTOM && !config->place))
		return -EINVAL;
	os_cpus_usable("", cpus);
	if (config->cpus) {
		sley_cpus_intersect(cpus, config->cpus);
		if (config->placement == SLEY_PLACE_NONE)
			config->placement = SLEY_PLACE_ANY_OF;
	}
	config->cpus = cpus;
	return sley_cpus_count(cpus) ? 0 : SLEY_ECPUS;
}

static int complete_times(struct sley_config *config)
{
	if (config->blocking_idle_ms == 0)
		config->blocking_idle_ms = BLOCKING_IDLE_MS_DEFAULT;
	if (config->tick_us == 0)
		config->tick_us = TICK_US_DEFAULT;
	if (config->tick_us < TICK_US_MIN || config->tick_us > TICK_US_MAX)
		return -EINVAL;
	if (config->watchdog_ms == 0)
		config->watchdog_ms = WATCHDOG_MS_DEFAULT;
	if (config->spin_us == 0)
		config->spin_us = SPIN_US_DEFAULT;
	if (config->spin_us > SPIN_US_MAX && config->spin_us != SLEY_NO_SPIN)
		return -EINVAL;
	return 0;
}

static const char *const io_names[] = {
	[SLEY_IO_URING] = "uring",
	[SLEY_IO_EPOLL] = "epoll",
	[SLEY_IO_THREADS] = "threads",
};

/* What $SLEY_IO says; 0: nothing that is known. */
static uint64_t io_of(const char *name)
{
	for (uint64_t io = SLEY_IO_URING; io <= SLEY_IO_THREADS; io++) {
		if (!strcmp(name, io_names[io]))
			return io;
	}
	return 0;
}

static int complete_io(struct sley_config *config)
{
	const char *name = os_env("SLEY_IO");

	if (config->io > SLEY_IO_THREADS) {
		report_early(config,
			     "sley_create(): .io is %llu: use a value of enum "
			     "sley_io",
			     (unsigned long long)config->io);
		return -EINVAL;
	}
	if (!config->io && name && *name) {
		config->io = io_of(name);
		if (!config->io) {
			report_early(config,
				     "sley_create(): SLEY_IO=%s is unknown: "
				     "unset it, or use uring, epoll or threads",
				     name);
			return -EINVAL;
		}
	}
	if (!config->io)
		config->io = SLEY_IO_URING;
	if (config->no_io_uring && config->io == SLEY_IO_URING)
		config->io = SLEY_IO_EPOLL;
	config->no_io_uring = config->io != SLEY_IO_URING;
	return 0;
}

/* What $SLEY_DOMAIN_STRICT says; -1: nothing that is known. */
static int strict_of(const char *text)
{
	static const char *const words[] = { "0",    "1",   "false",
					     "true", "off", "on" };

	for (size_t i = 0; i < array_size(words); i++) {
		if (!strcmp(text, words[i]))
			return i % 2;
	}
	return -1;
}

static int complete_domain(struct sley_config *config)
{
	const char *text = os_env("SLEY_DOMAIN_STRICT");
	int strict = text && *text ? strict_of(text) : 0;

	if (!config->domain)
		config->domain = os_env("SLEY_DOMAIN");
	if (config->domain && !*config->domain)
		config->domain = NULL;
	if (config->strict > 1)
		return -EINVAL;
	if (strict < 0) {
		report_early(config,
			     "sley_create(): SLEY_DOMAIN_STRICT=%s is unknown: "
			     "unset it, or use 0 or 1",
			     text);
		return -EINVAL;
	}
	config->strict |= (uint64_t)strict;
	return 0;
}

static int complete_config(const struct sley_config *given,
			   struct sley_config *config, struct sley_cpus *cpus)
{
	int err = options_take(config, given);

	if (!err)
		err = complete_placement(config, cpus);
	if (err)
		return err;
	config->size = sizeof(*config);
	if (config->workers == 0)
		config->workers = os_nr_usable_cpus(cpus);
	if (config->workers > SLEY_WORKERS_MAX || config->workers < SLEY_SINGLE)
		return SLEY_EWORKERS;
	if (config->stack_kib == 0)
		config->stack_kib = STACK_KIB_DEFAULT;
	if (!options_stack_fits(config->stack_kib))
		return SLEY_ESTACK;
	if (config->stack_cache == 0)
		config->stack_cache = STACK_CACHE_DEFAULT;
	err = complete_times(config)
		      ?: complete_io(config) ?: complete_domain(config);
	if (err)
		return err;
	if (config->blocking_max == 0)
		config->blocking_max = BLOCKING_MAX_DEFAULT;
	if (config->seed == 0)
		config->seed = os_now();
	if (!config->name)
		config->name = "sley";
	if (!config->trace)
		config->trace = os_env("SLEY_TRACE");
	return 0;
}

/* A program that asked for a domain runs without one, too. */
static void join_domain(struct sley *rt, const char *name)
{
	int err = membership_join(rt, name);

	if (err)
		report(rt,
		       "the domain '%s' is not joined, and the program goes "
		       "on without: %s",
		       name, membership_explain(err));
}

int sley_create(struct sley **out, const struct sley_config *given)
{
	struct sley_config config;
	struct sley_cpus cpus;
	int err = complete_config(given, &config, &cpus)
			  ?: runtime_create(out, &config);

	if (err)
		return err;
	(*out)->report_more = actors_report;
	if (config.domain)
		join_domain(*out, config.domain);
	return 0;
}

int sley_get_config(const struct sley *rt, struct sley_config *out)
{
	if (runtime_is_lost(rt))
		return SLEY_EFORKED;
	return options_give(out, &rt->config, sizeof(rt->config));
}

int sley_destroy_until(struct sley *rt, uint64_t deadline_ns)
{
	if (!rt)
		return 0;
	if (runtime_is_lost(rt))
		return SLEY_EFORKED;
	sley_check(
		sley__self.bound != rt,
		"destroy a runtime from a thread that is not part of it: the "
		"call waits for the tasks and the bound threads");
	actors_stop(rt, NULL);
	return runtime_destroy(rt, deadline_ns);
}

int sley_destroy(struct sley *rt)
{
	return sley_destroy_until(rt, UINT64_MAX);
}

void sley_cancel_all(struct sley *rt)
{
	sley_check(!runtime_is_lost(rt), FORKED_RULE);
	/* Either call may end the last thing that a destroyer waits for. */
	gate_pass(rt);
	actors_stop(rt, NULL);
	runtime_cancel_all(rt);
	gate_leave(rt);
}

int sley_bind(struct sley *rt)
{
	sley_check(!sley__self.bound,
		   "a thread is bound to one runtime at a time");
	return runtime_bind(rt);
}

/* Where bound threads run the tasks, the processes of a thread end with it. */
static void unbind(struct sley *rt)
{
	if (!rt->nr_workers)
		actors_stop(rt, worker_current());
	runtime_unbind(rt);
}

void sley_unbind(struct sley *rt)
{
	struct worker *worker = worker_current();

	sley_check(!runtime_is_lost(rt), FORKED_RULE);
	sley_check(sley__self.bound == rt,
		   "the thread is not bound to this runtime");
	sley_check(
		!sley__self.strand,
		"only the bound thread itself can unbind, not a blocking call "
		"of it");
	sley_check(!worker ||
			   (!rt->nr_workers && worker->strand == &worker->base),
		   "a task cannot unbind its worker");
	sley_check(
		!sley__self.opener.innermost,
		"the thread has an open scope: call sley_scope_close() before "
		"it unbinds");
	unbind(rt);
}

static int run_bound(struct sley *rt, sley_fn *root, void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task = { .fn = root, .arg = arg };
	static const struct sley_options options = { .name = "root" };
	int err = runtime_bind(rt);

	if (err)
		return err;
	err = spawn_into(rt, &group, &task, &options);
	if (!err)
		(void)!countdown_wait(&group.q, UINT64_MAX, WAIT_SHIELDED);
	unbind(rt);
	return err;
}

int sley_run(const struct sley_config *config, sley_fn *root, void *arg)
{
	struct sley *rt;
	int err;

	sley_check_fn(root);
	sley_check(!sley__self.bound,
		   "sley_run() starts a runtime of its own: call it from a "
		   "thread that belongs to none");
	err = sley_create(&rt, config);
	if (err)
		return err;
	err = run_bound(rt, root, arg);
	(void)sley_destroy(rt);
	return err;
}

struct sley *sley_current(void)
{
	return sley__self.bound;
}

int sley_worker(void)
{
	struct worker *worker = worker_current();

	return worker ? (int)worker->index : -1;
}

int sley_nr_workers(const struct sley *rt)
{
	return runtime_is_lost(rt) ? SLEY_EFORKED : (int)rt->nr_workers;
}

int sley_run_one(struct sley *rt)
{
	struct worker *worker = worker_current();

	sley_check(!runtime_is_lost(rt), FORKED_RULE);
	sley_check(
		worker && worker->rt == rt && !rt->nr_workers &&
			worker->strand == &worker->base,
		"call it from the bound thread of a single-threaded runtime, "
		"outside of its tasks");
	return worker_step(worker);
}

void sley_get_stats(const struct sley *rt, struct sley_stats *out)
{
	sley_check(!runtime_is_lost(rt), FORKED_RULE);
	runtime_stats((struct sley *)rt, out);
}

int sley_get_worker_stats(const struct sley *rt, int worker,
			  struct sley_worker_stats *out)
{
	struct sley_worker_stats stats;

	if (runtime_is_lost(rt))
		return SLEY_EFORKED;
	if (worker < 0 || (unsigned int)worker >= rt->nr_workers)
		return -EINVAL;
	gauge_worker_stats(rt->worker[worker], os_now(), &stats);
	return options_give(out, &stats, sizeof(stats));
}

const char *sley_version(void)
{
	return SLEY_VERSION;
}
