/* SPDX-License-Identifier: MIT */
/*
 * daemon.c - see daemon.h.
 */
#include "daemon.h"

#include "control.h"
#include "farewell.h"
#include "log.h"
#include "notify.h"
#include "place.h"
#include "signals.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * After the grace period, methods have so long to notice that they are cancelled.  Tests
 * have less patience: $SLEYD_LAST_S.
 */
#define LAST_S 10u
#define NOW_S 5u

/* ---- being asked to stop ---------------------------------------------------------------- */

/*
 * The process ends at the latest @grace_s and @last_s seconds from now.  With the lock: the
 * second request to stop may be faster than the thread that the first one wakes, and the
 * earlier end counts.
 */
static void end_by(unsigned int grace_s, unsigned int last_s)
{
	const char *wish = getenv("SLEYD_LAST_S");
	unsigned int other, s;

	s = grace_s +
	    (wish && atoi(wish) > 0 ? (unsigned int)atoi(wish) : last_s);
	other = alarm(s);
	if (other && other < s)
		alarm(other);
}

void daemon_stop(struct daemon *daemon, uint32_t grace_ms, bool now)
{
	bool again = atomic_fetch_add(&daemon->nr_stops, 1) > 0;

	if (grace_ms && !again)
		atomic_store(&daemon->grace_ms, grace_ms);
	if (now)
		atomic_store(&daemon->grace_ms, 0);
	sley_event_set(&daemon->stop);
	if (!again)
		return;
	/* A deadline that has passed: what runs is cancelled, and main() goes on. */
	sley_mutex_lock(&daemon->lock);
	end_by(0, NOW_S);
	if (daemon->stopped)
		(void)!sley_server_stop_until(daemon->stopped, 1);
	sley_mutex_unlock(&daemon->lock);
}

/* ---- starting ---------------------------------------------------------------------------- */

static int add_modules(struct sley_router *router)
{
	static const struct sley_module *const modules[] = {
		&sley_admin_module,
		&sley_kv_module,
		&sley_file_module,
		&control_module,
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(modules) / sizeof(*modules) && !err; i++)
		err = sley_router_add(router, modules[i]);
	return err;
}

/*
 * The pools of the daemon itself; the names are taken before others can have them.  No
 * request ends them: a user who may destroy pools could take the right to stop from others.
 */
static int open_own_pools(struct daemon *daemon)
{
	const struct sley_admin_params *params =
		daemon->kept.folder < 0
			? SLEY_ADMIN_PARAMS(.stop = &daemon->stop)
			: SLEY_ADMIN_PARAMS(.stop = &daemon->stop,
					    .keep = kept_keep,
					    .forget = kept_forget,
					    .keeper = &daemon->kept);
	struct sley_pool *pool;
	int err = sley_pool_open(
		daemon->router, &pool, "admin",
		SLEY_POOL_OPTIONS(.module = "admin", .permanent = true,
				  .params = params,
				  .params_size = sizeof(*params)));

	if (err)
		return err;
	sley_pool_close(pool);
	control_bind(daemon);
	err = sley_pool_open(daemon->router, &pool, CONTROL_MODULE,
			     SLEY_POOL_OPTIONS(.module = CONTROL_MODULE,
					       .permanent = true));
	if (!err)
		sley_pool_close(pool);
	return err;
}

/* Before the runtime, which is a member. */
static int start_domain(struct daemon *daemon)
{
	const struct sley_config_daemon *config = daemon->config;
	int err;

	if (!config->domain)
		return 0;
	err = sley_domain_host_create(
		&daemon->domain,
		SLEY_DOMAIN_HOST_OPTIONS(
				.name = place_domain(config->domain),
				.mode = config->domain_mode,
				.nr_cores = config->domain_cores,
				.age_ns = config->domain_age_ms * SLEY_MSEC,
				.may_join = rights_join, .terms = rights_terms,
				.share_by_user = config->domain_share_by_user,
				.report = log_report, .self = &daemon->rights));
	if (err)
		log_line("the domain '%s' cannot be hosted: %s", config->domain,
			 err == -EADDRINUSE ? "it has a host; 'sley domain' "
					      "lists its members"
					    : sley_strerror(err));
	return err;
}

static int start_router(struct daemon *daemon)
{
	struct sley_config config = *sley_config_file_runtime(daemon->file);
	const struct sley_router_options *options =
		sley_config_file_router(daemon->file);
	int err;

	/* A request that has waited goes on at any worker: no client holds one. */
	config.migratable = true;
	/* Its own tasks stand in the same order as those of all members. */
	if (daemon->domain)
		config.domain = place_domain(daemon->config->domain);
	config.report = log_report;
	err = sley_create(&daemon->rt, &config);
	if (err) {
		log_line("the runtime does not start: %s; 'sley doctor' tells "
			 "more",
			 sley_strerror(err));
		return err;
	}
	err = sley_router_create(daemon->rt, &daemon->router, options);
	if (err)
		log_line("the policy '%s' does not start: %s",
			 options->policy ? options->policy : "default",
			 sley_strerror(err));
	return err;
}

static int start_pools(struct daemon *daemon)
{
	int err = add_modules(daemon->router) ?: open_own_pools(daemon);

	if (err) {
		log_line("the pools of the daemon are not made: %s",
			 sley_strerror(err));
		return err;
	}
	err = sley_config_file_compose(daemon->file, daemon->router);
	if (!err)
		kept_replay(&daemon->kept, daemon->router);
	return err;
}

static int start_server(struct daemon *daemon)
{
	const struct sley_config_daemon *config = daemon->config;
	struct sley_server *server;
	int err = sley_server_create(
		daemon->router, &server,
		SLEY_SERVER_OPTIONS(.socket = daemon->listen_fd
						      ? NULL
						      : daemon->socket,
				    .listen_fd = daemon->listen_fd,
				    .mode = config->mode,
				    .max_clients = config->max_clients,
				    .max_clients_per_user =
					    config->max_clients_per_user,
				    .max_depth = config->max_depth,
				    .max_slot_size = config->max_slot_size,
				    .max_requests_per_user =
					    config->max_requests_per_user,
				    .max_segment_bytes =
					    config->max_segment_bytes,
				    .self = &daemon->rights,
				    .may_connect = rights_connect,
				    .may_make = rights_make,
				    .may_use = rights_use,
				    .most_urgent = rights_most_urgent));

	if (err) {
		if (err != -EADDRINUSE) /* the library has said all about it */
			log_line("the daemon cannot serve at %s: %s",
				 daemon->socket, sley_strerror(err));
		return err;
	}
	daemon->server = daemon->stopped = server;
	sley_event_set(&daemon->serving);
	return 0;
}

static int start(struct daemon *daemon)
{
	int err = start_domain(daemon);

	if (!err)
		err = start_router(daemon);
	if (!err)
		err = start_pools(daemon);
	if (!err)
		err = start_server(daemon);
	if (!err && daemon->config->pid_file)
		err = place_write_pid(daemon->config->pid_file);
	return err;
}

/* ---- the end ------------------------------------------------------------------------------ */

static void stop_server(struct daemon *daemon)
{
	uint32_t grace_ms = atomic_load(&daemon->grace_ms);
	uint64_t grace_ns = grace_ms * SLEY_MSEC;
	unsigned int none = 0;

	/* The event alone, of SLEY_ADMIN_STOP, counts as well. */
	(void)atomic_compare_exchange_strong(&daemon->nr_stops, &none, 1);
	notify("STOPPING=1\nSTATUS=requests under way are answered");
	farewell_begin(daemon->socket, daemon->config->mode);
	sley_mutex_lock(&daemon->lock);
	end_by(grace_ms / 1000, LAST_S);
	sley_mutex_unlock(&daemon->lock);
	if (sley_server_stop_until(daemon->server,
				   grace_ms ? sley_after(grace_ns) : 1) ==
	    -ETIMEDOUT)
		log_line(grace_ms ? "requests that took longer than %u ms were "
				    "cancelled"
				  : "requests under way were cancelled, as "
				    "asked (--now)",
			 grace_ms);
}

/* A start that has failed has only some of the parts. */
static void end(struct daemon *daemon)
{
	sley_mutex_lock(&daemon->lock);
	daemon->stopped = NULL;
	sley_mutex_unlock(&daemon->lock);
	sley_server_destroy(daemon->server);
	if (daemon->server && daemon->config->pid_file)
		(void)unlink(daemon->config->pid_file);
	if (daemon->router && sley_router_destroy(daemon->router))
		log_line("pools are in use, and stay until the process ends");
	/* Only now: a second signal is heard to the end. */
	if (daemon->rt) {
		sley_cancel_all(daemon->rt);
		(void)sley_destroy(daemon->rt);
	}
	sley_domain_host_destroy(daemon->domain);
}

static void serve(struct daemon *daemon)
{
	int nr = sley_router_pool_names(daemon->router, NULL, 0);

	log_line("serving at %s with %d pools, as user %u", daemon->socket,
		 nr > 0 ? nr : 0, geteuid());
	notify("READY=1\nMAINPID=%d\nSTATUS=serving at %s", getpid(),
	       daemon->socket);
	(void)!sley_event_wait(&daemon->stop);
	stop_server(daemon);
}

int daemon_run(struct daemon *daemon)
{
	int err;

	atomic_store(&daemon->grace_ms, daemon->config->grace_ms
						? daemon->config->grace_ms
						: 10000);
	daemon->started_ns = sley_now();
	err = signals_start(daemon);
	if (err)
		return 1;
	err = start(daemon);
	if (!err)
		err = signals_serve(daemon);
	if (!err)
		serve(daemon);
	end(daemon);
	signals_end(daemon);
	farewell_end();
	if (!err)
		log_line("ended");
	return err != 0;
}
