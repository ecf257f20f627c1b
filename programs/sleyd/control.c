/* SPDX-License-Identifier: MIT */
/*
 * control.c - see control.h.
 *
 * The state of the container is the daemon.  A request may come before the server is known
 * here, since the server takes clients while it is created: the methods wait for it.
 */
#include "control.h"

#include "daemon.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int take_in(const struct sley_request *request, void *copy, size_t size)
{
	size_t given;
	const void *in = sley_request_in(request, &given);

	if (given != size)
		return -EINVAL;
	if (size)
		memcpy(copy, in, size);
	return 0;
}

static void put_text(char *field, size_t size, const char *text)
{
	snprintf(field, size, "%s", text ? text : "");
}

static void put_texts(struct control_status *status,
		      const struct daemon *daemon)
{
	const char *name = daemon->config->name;

	put_text(status->name, sizeof(status->name), name ? name : "sleyd");
	put_text(status->version, sizeof(status->version), sley_version());
	put_text(status->socket, sizeof(status->socket), daemon->socket);
	put_text(status->config, sizeof(status->config), daemon->config_path);
	put_text(status->log, sizeof(status->log), daemon->log_path);
	put_text(status->state_dir, sizeof(status->state_dir),
		 daemon->state_dir);
}

static int tell_status(void *self, struct sley_request *request)
{
	struct daemon *daemon = self;
	struct sley_server_stats stats = { .size = sizeof(stats) };
	struct control_status status;
	int err = take_in(request, NULL, 0)
			  ?: sley_server_inspect(daemon->server, &stats);

	if (err)
		return err;
	status = (struct control_status){
		.pid = (uint32_t)getpid(),
		.uid = geteuid(),
		.flags = (atomic_load(&daemon->nr_stops) ? CONTROL_STOPPING
							 : 0) |
			 (daemon->is_filtered ? CONTROL_FILTERED : 0) |
			 (daemon->is_managed ? CONTROL_MANAGED : 0),
		.grace_ms = atomic_load(&daemon->grace_ms),
		.nr_workers = sley_router_nr_workers(daemon->router),
		.nr_clients = stats.nr_clients,
		.uptime_ns = sley_now() - daemon->started_ns,
		.nr_accepted = stats.nr_accepted,
		.nr_refused = stats.nr_refused,
		.nr_ejected = stats.nr_ejected,
		.nr_requests = stats.nr_requests,
		.nr_in_flight = stats.nr_in_flight,
		.segment_bytes = stats.segment_bytes,
	};
	err = sley_router_pool_names(daemon->router, NULL, 0);
	status.nr_pools = err > 0 ? (uint32_t)err : 0;
	put_texts(&status, daemon);
	return sley_request_answer(request, &status, sizeof(status));
}

static int stop(void *self, struct sley_request *request)
{
	struct control_stop stop;
	int err = take_in(request, &stop, sizeof(stop));

	if (!err &&
	    (stop.flags & ~CONTROL_NOW || stop.reserved[0] || stop.reserved[1]))
		err = -EINVAL;
	if (!err)
		daemon_stop(self, stop.grace_ms, stop.flags & CONTROL_NOW);
	return err;
}

static int list_clients(void *self, struct sley_request *request)
{
	struct daemon *daemon = self;
	size_t room;
	struct sley_server_client *clients = sley_request_out(request, &room);
	uint32_t nr_fit = (uint32_t)(room / sizeof(*clients)), nr;
	int err = take_in(request, NULL, 0);

	if (err)
		return err;
	nr = sley_server_clients(daemon->server, clients, nr_fit);
	if (nr > nr_fit)
		return -EMSGSIZE;
	return sley_request_answer(request, clients, nr * sizeof(*clients));
}

static int eject(void *self, struct sley_request *request)
{
	struct daemon *daemon = self;
	struct control_eject eject;
	int err = take_in(request, &eject, sizeof(eject));

	if (!err && (eject.reserved ||
		     !memchr(eject.reason, '\0', sizeof(eject.reason))))
		err = -EINVAL;
	return err
		       ?: sley_server_eject(daemon->server, eject.session,
					    eject.reason);
}

/* ---- the module ------------------------------------------------------------------------- */

/* A method, once there is a server. */
#define SERVED(method)                                                         \
	static int method##_served(void *self, struct sley_request *request)   \
	{                                                                      \
		struct daemon *daemon = self;                                  \
		int err = sley_event_wait(&daemon->serving);                   \
                                                                               \
		return err ?: method(self, request);                           \
	}

SERVED(tell_status)
SERVED(list_clients)
SERVED(eject)

/*
 * There is one daemon.  Its address is no parameter: a client that may make pools could
 * give another one.
 */
static struct daemon *the_daemon;

void control_bind(struct daemon *daemon)
{
	the_daemon = daemon;
}

static int create(void **self, const struct sley_container_info *info)
{
	*self = the_daemon;
	return info->params_size ? -EINVAL : 0;
}

static const struct sley_method methods[] = {
	[CONTROL_STATUS] = { .name = "status", .run = tell_status_served },
	[CONTROL_STOP] = { .name = "stop", .run = stop },
	[CONTROL_CLIENTS] = { .name = "clients", .run = list_clients_served },
	[CONTROL_EJECT] = { .name = "eject", .run = eject_served },
};

const struct sley_module control_module = {
	SLEY_MODULE_HEAD(CONTROL_MODULE),
	.version = 1,
	.methods = methods,
	.nr_methods = sizeof(methods) / sizeof(*methods),
	.create = create,
};
