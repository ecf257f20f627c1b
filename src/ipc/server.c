/* SPDX-License-Identifier: MIT */
/*
 * server.c - <sley/server.h>; see server.h.
 */
#include "ipc/server.h"

#include "base/options.h"
#include "base/printable.h"
#include "core/life/after_fork.h"
#include "core/sched/source.h"
#include "core/task/countdown.h"
#include "core/trace/report.h"
#include "ipc/doorkeeper.h"
#include "ipc/greeting.h"
#include "ipc/packet.h"
#include "os/clock.h"
#include "os/map.h"
#include "os/pidfd.h"
#include "os/secret.h"
#include "os/shared_memory.h"

#include <errno.h>
#include <sley/error.h>
#include <sley/time.h>
#include <sley/version.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PAGE_SIZE 4096u
#define CLIENTS_MAX 65536u
#define LOOK_AGAIN_NS 1000000u

/* ---- for the other parts ----------------------------------------------------------------- */

static void add_chore(struct sley_server *server, struct connection *connection,
		      bool is_last)
{
	struct sley_source *source = server->source;

	spin_lock(&server->lock);
	if (list_empty(&connection->chore))
		list_append(&server->chores, &connection->chore);
	connection->is_last = connection->is_last || is_last;
	spin_unlock(&server->lock);
	source_notify(source);
}

void server_add_chore(struct sley_server *server, struct connection *connection)
{
	add_chore(server, connection, false);
}

void server_add_last_chore(struct sley_server *server,
			   struct connection *connection)
{
	add_chore(server, connection, true);
}

void server_recheck(struct sley_server *server)
{
	for (uint32_t i = 0; i < server->nr_ingresses; i++)
		ingress_recheck(server->ingresses[i]);
}

void server_recheck_rings(struct sley_server *server, struct ingress *ingress)
{
	spin_lock(&server->lock);
	for (uint32_t i = 0; i < server->options.max_clients; i++) {
		struct connection *connection = server->table[i];

		if (connection && connection->ingress == ingress)
			ring_set_recheck(&ingress->set, &connection->member);
	}
	spin_unlock(&server->lock);
}

void server_heard(struct sley_server *server, struct ingress *ingress,
		  uint32_t index)
{
	struct connection *connection;

	spin_lock(&server->lock);
	connection = server->table[index];
	if (connection && connection->ingress == ingress)
		ring_set_heard(&ingress->set, &connection->member);
	spin_unlock(&server->lock);
}

/* ---- rights ------------------------------------------------------------------------------ */

static bool is_trusted(const struct sley_server_peer *peer)
{
	return !peer->uid || peer->uid == geteuid();
}

bool server_may_connect(struct sley_server *server,
			const struct sley_server_peer *peer)
{
	const struct sley_server_options *options = &server->options;
	bool may = is_trusted(peer);

	if (!options->may_connect)
		return may;
	sley_mutex_lock(&server->rights);
	may = options->may_connect(options->self, peer);
	sley_mutex_unlock(&server->rights);
	return may;
}

bool server_may_make(struct sley_server *server,
		     const struct sley_server_peer *peer, const char *pool,
		     const char *module)
{
	const struct sley_server_options *options = &server->options;
	bool may = is_trusted(peer);

	if (!options->may_make)
		return may;
	sley_mutex_lock(&server->rights);
	may = options->may_make(options->self, peer, pool, module);
	sley_mutex_unlock(&server->rights);
	return may;
}

uint64_t server_may_use(struct sley_server *server,
			const struct sley_server_peer *peer, const char *pool,
			const char *module)
{
	const struct sley_server_options *options = &server->options;
	uint64_t methods = is_trusted(peer) ? SLEY_METHODS_ALL : 0;

	if (!options->may_use)
		return methods;
	sley_mutex_lock(&server->rights);
	methods = options->may_use(options->self, peer, pool, module);
	sley_mutex_unlock(&server->rights);
	return methods;
}

int32_t server_most_urgent(struct sley_server *server,
			   const struct sley_server_peer *peer)
{
	const struct sley_server_options *options = &server->options;
	int32_t priority;

	if (!options->most_urgent)
		return SLEY_PRIORITY_MIN;
	sley_mutex_lock(&server->rights);
	priority = options->most_urgent(options->self, peer);
	sley_mutex_unlock(&server->rights);
	if (priority < SLEY_PRIORITY_MIN)
		return SLEY_PRIORITY_MIN;
	return priority > SLEY_PRIORITY_MAX ? SLEY_PRIORITY_MAX : priority;
}

void sley_server_refresh(struct sley_server *server)
{
	if (runtime_is_lost(server_runtime(server)))
		return;
	store_release(&server->refresh, 1); /* SV2 */
	source_notify(server->source);
}

/* ---- creation ---------------------------------------------------------------------------- */

static void set_default(uint32_t *value, uint32_t usual)
{
	if (!*value)
		*value = usual;
}

static int take_options(struct sley_server_options *options,
			const struct sley_server_options *given)
{
	int err = options_take(options, given);

	if (err)
		return err;
	if (!options->socket && options->listen_fd <= 0)
		return -EINVAL;
	set_default(&options->mode, 0600);
	set_default(&options->max_clients, 256);
	set_default(&options->max_clients_per_user, 64);
	set_default(&options->max_depth, 4096);
	set_default(&options->max_slot_size, 65536);
	set_default(&options->max_requests_per_user, 65536);
	if (!options->max_segment_bytes)
		options->max_segment_bytes = 64u << 20;
	if (options->max_clients > CLIENTS_MAX ||
	    options->max_depth > REQUEST_RING_DEPTH_MAX ||
	    options->max_slot_size > REQUEST_RING_SLOT_MAX ||
	    options->max_requests_per_user >= UINT32_MAX / QUOTA_ONE)
		return -E2BIG;
	return 0;
}

/*
 * A ring has a power of two of slots, each of some cache lines and not too small.  The
 * smallest ring has room for a request and for its cancel.
 */
static struct session_limits
limits_of(const struct sley_server_options *options)
{
	struct session_limits limits = {
		.max_depth = 2,
		.max_slot_size = options->max_slot_size / 256 * 256,
		.max_segment_bytes = options->max_segment_bytes,
	};

	while (limits.max_depth * 2 <= options->max_depth)
		limits.max_depth *= 2;
	if (!limits.max_slot_size)
		limits.max_slot_size = 256;
	return limits;
}

static void say_why_not(const struct sley_server *server, const char *what,
			int err)
{
	const char *socket = server->options.socket;
	char other[48] = "another program";
	const char *advice = "";

	if (err == -EADDRINUSE) {
		if (server->listener.holder > 0)
			(void)snprintf(other, sizeof(other), "process %d",
				       server->listener.holder);
		report(server_runtime(server),
		       "no server at %s: %s serves there; stop it, or choose "
		       "another path (--socket of sleyd, .socket of the "
		       "options)",
		       socket, other);
		return;
	}
	if (err == -EPERM)
		advice = ": its folder must belong to root or to this user, "
			 "and nobody else may write there; chmod go-w it";
	else if (err == -ENOENT)
		advice = ": make its folder first, with the mode 0700 or 0755";
	else if (err == -EEXIST)
		advice = ": there is a file of that name which is no socket";
	report(server_runtime(server), "no server at %s: %s: %s%s",
	       socket ? socket : "the socket that was given", what,
	       sley_strerror(err), advice);
}

static int start_listening(struct sley_server *server)
{
	const struct sley_server_options *options = &server->options;
	int err;

	if (options->listen_fd > 0)
		err = os_local_adopt(&server->listener, options->listen_fd);
	else
		err = os_local_listen(&server->listener, options->socket,
				      options->mode);
	if (err) {
		server->listener.fd = -1;
		say_why_not(server, "cannot listen", err);
	}
	return err;
}

/* What all clients may read. */
static int make_page(struct sley_server *server)
{
	void *memory;

	server->page_fd =
		os_shared_page_create("sley page", PAGE_SIZE, &memory);
	if (server->page_fd < 0)
		return server->page_fd;
	server->page = memory;
	*server->page = (struct wire_page){
		.magic = WIRE_MAGIC,
		.major = WIRE_MAJOR,
		.minor = WIRE_MINOR,
		.state = WIRE_SERVING,
		.pid = (uint32_t)os_pid(),
		.generation = server->generation,
		.started_ns = os_now(),
		.nr_workers = server->router->nr_workers,
	};
	(void)snprintf(server->page->version, sizeof(server->page->version),
		       "%d.%d.%d", SLEY_VERSION_MAJOR, SLEY_VERSION_MINOR,
		       SLEY_VERSION_PATCH);
	return 0;
}

/* As many as there are workers, but not too many: each is a source. */
static int open_ingresses(struct sley_server *server)
{
	uint32_t nr = server->router->nr_workers,
		 max = server->options.max_clients;

	nr = nr > SERVER_INGRESSES_MAX ? SERVER_INGRESSES_MAX : nr;
	for (uint32_t i = 0; i < nr; i++) {
		struct ingress *ingress =
			mem_alloc(server_mem(server), sizeof(*ingress));
		int err = ingress ? ingress_open(ingress, server, max)
				  : -ENOMEM;

		if (err)
			mem_free(server_mem(server), ingress, sizeof(*ingress));
		if (err == -ENOSPC && i)
			break;
		if (err)
			return err;
		server->ingresses[server->nr_ingresses++] = ingress;
	}
	return 0;
}

/* All that was opened, in any state of a creation; no source of its own is left. */
static void dismantle(struct sley_server *server)
{
	struct mem *mem = server_mem(server);
	uint32_t max = server->options.max_clients;

	for (uint32_t i = 0; i < server->nr_ingresses; i++) {
		ingress_close(server->ingresses[i]);
		mem_free(mem, server->ingresses[i], sizeof(struct ingress));
	}
	if (server->listener.fd >= 0)
		os_local_unlisten(&server->listener);
	if (server->page)
		os_unmap(server->page, PAGE_SIZE);
	os_close(server->page_fd);
	mem_free(mem, server->table, max * sizeof(*server->table));
	if (server->quota.users)
		quota_end(&server->quota, mem);
	mem_free(mem, server, sizeof(*server));
}

static int assemble(struct sley_server *server)
{
	const struct sley_server_options *options = &server->options;
	struct mem *mem = server_mem(server);
	int err = quota_init(&server->quota, mem, options->max_clients,
			     options->max_clients_per_user,
			     options->max_requests_per_user);

	if (err)
		return err;
	server->table =
		mem_alloc(mem, options->max_clients * sizeof(*server->table));
	if (!server->table)
		return -ENOMEM;
	err = make_page(server);
	if (!err)
		err = start_listening(server);
	if (!err)
		err = open_ingresses(server);
	return err ? err : doorkeeper_open(server);
}

int sley_server_create(struct sley_router *router, struct sley_server **out,
		       const struct sley_server_options *given)
{
	struct sley_server_options options;
	struct sley_server *server;
	int err = take_options(&options, given);

	if (err)
		return err;
	if (runtime_is_lost(router->rt))
		return SLEY_EFORKED;
	server = mem_alloc(&router->rt->mem, sizeof(*server));
	if (!server)
		return -ENOMEM;
	server->router = router;
	server->options = options;
	server->limits = limits_of(&options);
	server->listener.fd = server->page_fd = -1;
	server->greeting_ns = GREETING_NS;
	server->generation = os_now() << 16 ^ (uint64_t)os_pid();
	list_init(&server->chores);
	err = assemble(server);
	if (err) {
		if (options.listen_fd > 0)
			server->listener.fd = -1; /* stays the caller's */
		dismantle(server);
		return err;
	}
	*out = server;
	return 0;
}

/* ---- the end ----------------------------------------------------------------------------- */

static void want(struct sley_server *server, enum server_phase phase)
{
	/* relaxed: the compare-and-swap checks it. */
	uint32_t wanted = load_relaxed(&server->wanted);

	while (wanted < phase &&
	       !cas_acq_rel(&server->wanted, &wanted, phase)) /* SV1 */
		;
	source_notify(server->source);
}

static bool has_reached(const struct sley_server *server,
			enum server_phase phase)
{
	return load_acquire(&server->phase) >= phase; /* SV1 */
}

/* With the lock: has the handshake ended?  Else there is nothing to see. */
static bool is_live(const struct connection *connection)
{
	return connection && connection->ingress;
}

static uint64_t nr_in_flight(struct sley_server *server)
{
	uint64_t nr = 0;

	spin_lock(&server->lock);
	for (uint32_t i = 0; i < server->options.max_clients; i++) {
		struct connection *connection = server->table[i];

		if (!is_live(connection))
			continue;
		spin_lock(&connection->lock);
		nr += session_nr_in_flight(&connection->session);
		spin_unlock(&connection->lock);
	}
	spin_unlock(&server->lock);
	return nr;
}

/* -ETIMEDOUT, -ECANCELED, or 0: all that began is answered. */
static int await_answers(struct sley_server *server, uint64_t deadline_ns)
{
	while (!has_reached(server, SERVER_STOPPING) || nr_in_flight(server)) {
		uint64_t now = os_now();
		int err;

		if (now >= deadline_ns)
			return -ETIMEDOUT;
		err = sley_sleep(deadline_ns - now < LOOK_AGAIN_NS
					 ? deadline_ns - now
					 : LOOK_AGAIN_NS);
		if (err)
			return err;
	}
	return 0;
}

int sley_server_stop_until(struct sley_server *server, uint64_t deadline_ns)
{
	int err;

	if (runtime_is_lost(server_runtime(server)))
		return SLEY_EFORKED;
	want(server, SERVER_STOPPING);
	err = await_answers(server, deadline_ns);
	if (!err)
		want(server, SERVER_CLOSING);
	else if (err == -ETIMEDOUT)
		want(server, SERVER_CANCELLING);
	return err;
}

void sley_server_destroy(struct sley_server *server)
{
	if (!server || runtime_is_lost(server_runtime(server)))
		return;
	want(server, SERVER_CLOSING);
	while (!has_reached(server, SERVER_CLOSING))
		(void)!sley_sleep(LOOK_AGAIN_NS);
	(void)!countdown_wait(&server->nr_connections, UINT64_MAX,
			      WAIT_SHIELDED);
	doorkeeper_close(server);
	dismantle(server);
}

/* ---- looking ------------------------------------------------------------------------------ */

int sley_server_inspect(struct sley_server *server,
			struct sley_server_stats *out)
{
	struct sley_server_stats stats = {
		.generation = server->generation,
		/* relaxed: for the eyes. */
		.stopping = load_relaxed(&server->wanted) != SERVER_SERVING,
	};

	spin_lock(&server->lock);
	stats.nr_accepted = server->counts.accepted;
	stats.nr_refused = server->counts.refused;
	stats.nr_ejected = server->counts.ejected;
	stats.nr_requests = server->counts.requests;
	for (uint32_t i = 0; i < server->options.max_clients; i++) {
		struct connection *connection = server->table[i];
		const struct session *session;

		if (!is_live(connection))
			continue;
		session = &connection->session;
		spin_lock(&connection->lock);
		stats.nr_clients++;
		stats.nr_requests += session->nr_requests;
		stats.nr_in_flight += session_nr_in_flight(session);
		stats.segment_bytes += session->segment_bytes;
		spin_unlock(&connection->lock);
	}
	spin_unlock(&server->lock);
	return options_give(out, &stats, sizeof(stats));
}

/* With both locks. */
static void describe(const struct connection *connection,
		     struct sley_server_client *out)
{
	const struct session *session = &connection->session;

	*out = (struct sley_server_client){
		.session = connection->number,
		.uid = connection->peer.uid,
		.gid = connection->peer.gid,
		.pid = connection->peer.pid,
		.depth = session->depth,
		.nr_pools = session->nr_pools,
		.nr_segments = session->nr_segments,
		.segment_bytes = session->segment_bytes,
		.nr_requests = session->nr_requests,
		.nr_in_flight = session_nr_in_flight(session),
		.connected_ns = connection->connected_ns,
	};
	(void)snprintf(out->name, sizeof(out->name), "%.*s",
		       (int)sizeof(out->name) - 1, session->name);
}

uint32_t sley_server_clients(struct sley_server *server,
			     struct sley_server_client *clients, uint32_t room)
{
	uint32_t nr = 0;

	spin_lock(&server->lock);
	for (uint32_t i = 0; i < server->options.max_clients; i++) {
		struct connection *connection = server->table[i];

		if (!is_live(connection))
			continue;
		if (nr < room) {
			spin_lock(&connection->lock);
			describe(connection, &clients[nr]);
			spin_unlock(&connection->lock);
		}
		nr++;
	}
	spin_unlock(&server->lock);
	return nr;
}

/* With the lock. */
static struct connection *find(struct sley_server *server, uint64_t session)
{
	for (uint32_t i = 0; i < server->options.max_clients; i++) {
		struct connection *connection = server->table[i];

		if (connection && connection->number == session)
			return connection;
	}
	return NULL;
}

int sley_server_eject(struct sley_server *server, uint64_t session,
		      const char *reason)
{
	struct connection *connection;

	if (runtime_is_lost(server_runtime(server)))
		return SLEY_EFORKED;
	spin_lock(&server->lock);
	connection = find(server, session);
	if (connection) {
		connection->eject_code = -ECONNABORTED;
		(void)snprintf(connection->eject_reason,
			       sizeof(connection->eject_reason), "%s", reason);
		text_make_printable(connection->eject_reason,
				    sizeof(connection->eject_reason));
		if (list_empty(&connection->chore))
			list_append(&server->chores, &connection->chore);
	}
	spin_unlock(&server->lock);
	if (!connection)
		return -ENOENT;
	source_notify(server->source);
	return 0;
}
