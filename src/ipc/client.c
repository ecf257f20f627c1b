/* SPDX-License-Identifier: MIT */
/*
 * client.c - see client.h, and <sley/client.h>.
 */
#include "ipc/client.h"

#include "base/options.h"
#include "core/life/after_fork.h"
#include "core/trace/report.h"
#include "ipc/client_pool.h"
#include "ipc/client_source.h"
#include "ipc/client_wait.h"
#include "ipc/client_connection.h"
#include "os/clock.h"
#include "os/env.h"
#include "os/eventfd.h"

#include <errno.h>
#include <limits.h>
#include <sley/error.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define COLLECT_MAX 32
#define DEPTH_DEFAULT 256u
#define SLOT_DEFAULT 1024u
#define SLOT_MIN 256u /* CONTROL_OPEN fits */
#define SPIN_DEFAULT_US 20u
#define RECONNECT_DEFAULT_NS (60 * SLEY_SEC)

void client_report(const struct sley_client *client, const char *format, ...)
{
	char line[400];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	report_early(&client->voice, "client: %s", line);
}

/* ---- the lock ------------------------------------------------------------------------ */

void client_unlock(struct sley_client *client)
{
	int bits = link_publish(&client->link);
	uint32_t foreign *word = client->link.submitter
					 ? link_submitted_word(&client->link)
					 : NULL;
	int bell = client->server_bell;

	if (unlikely(link_is_broken(&client->link) || client->link.nr_ended))
		/* relaxed: a hint for the driver, and for has() of the source. */
		store_relaxed(&client->urgent, 1);
	if (likely(bits <= 0)) {
		spin_unlock(&client->lock);
		return;
	}
	/* relaxed: the lock; the driver looks after it has had the lock. */
	(void)add_relaxed(&client->nr_ringing, 1);
	spin_unlock(&client->lock);
	if (entry_ring_tell(word, bits))
		os_eventfd_signal(bell);
	(void)sub_release(&client->nr_ringing, 1); /* CL1 */
}

void client_changed(struct sley_client *client)
{
	/* relaxed: a thread looks at the state with the lock, before it sleeps. */
	(void)add_relaxed(&client->epoch, 1);
	os_futex_wake(&client->epoch, INT_MAX);
	sley_event_set(&client->room);
}

/* ---- requests that have ended -------------------------------------------------------- */

/* The answer is in a segment, which is free afterwards. */
static void take_from_segment(struct sley_client *client,
			      const struct link_done *done)
{
	struct segment *segment = done->segment;
	struct sley_request *request = done->owner;
	bool stale;

	if (done->size)
		memcpy(request->out, segment->memory, done->size);
	spin_lock(&client->lock);
	stale = segment_cache_put(&client->segments, segment);
	spin_unlock(&client->lock);
	if (stale)
		segment_unmap(client->mem, segment);
}

static void complete(struct sley_client *client, const struct link_done *done)
{
	struct sley_request *request = done->owner;
	int32_t code = done->code;

	if (done->segment)
		take_from_segment(client, done);
	if (!request)
		return;
	request->code = code;
	request->answer_size = done->size;
	if (unlikely(request->flags & REQUEST_OPENS_POOL))
		client_pool_opened(request);
	else if (unlikely(request->flags & REQUEST_FOR_SEGMENT))
		connection_has_asked(client);
	else if (unlikely(request->flags & REQUEST_FREED))
		mem_free(client->mem, request, request_forgotten_size(request));
	else if (likely(code >= 0))
		(void)sley_future_set(&request->done, request);
	else
		(void)sley_future_fail(&request->done, code);
}

/* A batch.  How many, perhaps 0. */
static int collect_some(struct sley_client *client)
{
	struct link_done done[COLLECT_MAX];
	bool room = false;
	int nr;

	client_lock(client);
	nr = link_collect(&client->link, done, COLLECT_MAX);
	if (likely(client->link.submitter)) {
		/* relaxed: a hint for has() of the source. */
		store_relaxed(&client->seen, link_seen(&client->link));
		room = nr > 0 && unlikely(client->nr_room_waiters) &&
		       link_has_room(&client->link);
	}
	client_unlock(client);
	for (int i = 0; i < nr; i++)
		complete(client, &done[i]);
	if (room)
		sley_event_set(&client->room);
	return nr;
}

bool client_collect(struct sley_client *client)
{
	int nr = collect_some(client);
	bool any = nr > 0;

	while (unlikely(nr == COLLECT_MAX))
		nr = collect_some(client);
	return any;
}

/* ---- opening ------------------------------------------------------------------------- */

static int copy_path(char *to, const char *from, const char *rest)
{
	int length = snprintf(to, OS_LOCAL_PATH_MAX + 1, "%s%s", from, rest);

	return length > (int)OS_LOCAL_PATH_MAX ? -ENAMETOOLONG : 0;
}

static int choose_paths(struct sley_client *client, const char *given)
{
	const char *folder = os_env("XDG_RUNTIME_DIR");
	int err;

	if (!given)
		given = os_env("SLEY_SOCKET");
	if (given && *given)
		return copy_path(client->path[0], given, "");
	err = copy_path(client->path[0], "/run/sley/sleyd.sock", "");
	if (folder && !copy_path(client->path[1], folder, "/sley/sleyd.sock")) {
		memcpy(client->path[0], client->path[1],
		       sizeof(client->path[0]));
		err = copy_path(client->path[1], "/run/sley/sleyd.sock", "");
	}
	return err;
}

static uint32_t round_depth(uint32_t depth)
{
	uint32_t rounded = 2;

	while (rounded < depth)
		rounded *= 2;
	return rounded;
}

static int set_sizes(struct sley_client *client,
		     const struct sley_client_options *options)
{
	uint32_t slot = options->slot_size ? options->slot_size : SLOT_DEFAULT;
	uint32_t spin = options->spin_us ? options->spin_us : SPIN_DEFAULT_US;

	if (options->depth > REQUEST_RING_DEPTH_MAX ||
	    slot > REQUEST_RING_SLOT_MAX)
		return -EINVAL;
	client->depth =
		round_depth(options->depth ? options->depth : DEPTH_DEFAULT);
	slot = slot < SLOT_MIN ? SLOT_MIN : slot;
	client->slot_size = (slot + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
	client->spin_ns = spin == SLEY_CLIENT_NO_SPIN ? 0 : spin * SLEY_USEC;
	return 0;
}

static void set_voice(struct sley_client *client,
		      const struct sley_client_options *options)
{
	if (options->report) {
		client->voice.report = options->report;
		client->voice.report_self = options->report_self;
	} else if (client->rt) {
		client->voice.report = client->rt->config.report;
		client->voice.report_self = client->rt->config.report_self;
	}
}

static void set_lists(struct sley_client *client)
{
	uint64_t reconnect_ns = client->link.patience_ns;

	client->pause_ns = CLIENT_PAUSE_NS;
	client->socket = client->bell = client->ring_fd = -1;
	client->server_bell = client->epoll = -1;
	list_init(&client->pools);
	segment_cache_init(&client->segments);
	sley_event_init(&client->handover, true, false);
	sley_event_init(&client->room, true, false);
	link_init(&client->link, client->mem, reconnect_ns);
	client_pool_init_daemon(client);
}

static struct sley_client *make(const struct sley_client_options *options,
				struct sley *rt, int *err)
{
	struct sley_client *client =
		mem_alloc(&sley__program_mem, sizeof(*client));
	const char *name = options->name ? options->name
					 : program_invocation_short_name;

	*err = -ENOMEM;
	if (!client)
		return NULL;
	client->mem = &sley__program_mem;
	client->rt = rt;
	client->generation = os_fork_generation();
	client->connect_ns = options->connect_ns;
	client->link.patience_ns = options->reconnect_ns ? options->reconnect_ns
							 : RECONNECT_DEFAULT_NS;
	(void)snprintf(client->name, sizeof(client->name), "%s", name);
	set_lists(client);
	set_voice(client, options);
	*err = set_sizes(client, options);
	if (!*err)
		*err = choose_paths(client, options->socket);
	if (!*err)
		return client;
	if (*err == -ENAMETOOLONG)
		client_report(client,
			      "the path of the socket has more than %d bytes: "
			      "use a shorter one",
			      (int)OS_LOCAL_PATH_MAX);
	mem_free(client->mem, client, sizeof(*client));
	return NULL;
}

/* All requests end, and all calls and tasks that use the client return. */
static void shut(struct sley_client *client)
{
	connection_shut(client);
	client_lock(client);
	link_end_all(&client->link, SLEY_EUNKNOWN);
	client_unlock(client);
	(void)client_collect(client);
	client_changed(client);
	client_wait_until_left(client);
}

/* The connection is down, and no other thread knows the client. */
static void unmake(struct sley_client *client)
{
	client_source_end(client);
	connection_end(client);
	link_fini(&client->link);
	mem_free(client->mem, client, sizeof(*client));
}

int sley_client_open(struct sley_client **out,
		     const struct sley_client_options *given)
{
	const struct worker *worker = worker_current();
	struct sley_client_options options;
	struct sley_client *client;
	struct sley *rt;
	int err = options_take(&options, given);

	if (err)
		return err;
	rt = options.rt ? options.rt : worker ? worker->rt : NULL;
	if (rt && runtime_is_lost(rt))
		return SLEY_EFORKED;
	client = make(&options, rt, &err);
	if (!client)
		return err;
	if (rt)
		err = client_source_begin(client);
	if (!err)
		err = client_wait_connect(client);
	if (!err) {
		*out = client;
		return 0;
	}
	shut(client);
	unmake(client);
	return err;
}

/* ---- closing ------------------------------------------------------------------------- */

static int refuse_close(struct sley_client *client)
{
	bool busy;

	if (client_is_lost(client))
		return SLEY_EFORKED;
	client_lock(client);
	busy = client->nr_pools;
	client_unlock(client);
	return busy ? -EBUSY : 0;
}

int sley_client_close(struct sley_client *client)
{
	int err = client ? refuse_close(client) : 0;

	if (!client || err)
		return err;
	shut(client);
	client_pools_free(client);
	unmake(client);
	return 0;
}

/* ---- looking ------------------------------------------------------------------------- */

static void copy_page(const struct sley_client *client,
		      struct sley_client_info *info)
{
	if (!client->page)
		return;
	info->daemon_pid = client->page->pid;
	memcpy(info->version, client->page->version, sizeof(info->version));
	info->version[sizeof(info->version) - 1] = 0;
}

static uint32_t nr_of_user(const struct link *link)
{
	uint32_t nr = 0;

	for (uint32_t slot = 0; slot < link->submitter->ring.depth; slot++)
		nr += link->requests[slot].phase != LINK_SLOT_FREE &&
		      link->requests[slot].pool != LINK_DAEMON;
	return nr;
}

int sley_client_inspect(struct sley_client *client,
			struct sley_client_info *out)
{
	struct sley_client_info info = { .size = sizeof(info) };
	const struct link *link = &client->link;

	if (client_is_lost(client))
		return SLEY_EFORKED;
	client_lock(client);
	info.state = link->state;
	info.depth = link->submitter->ring.depth;
	info.slot_size = link->submitter->ring.slot_size;
	info.session = client->session;
	info.generation = client->daemon_generation;
	info.nr_pools = client->nr_pools;
	info.nr_in_flight = nr_of_user(link);
	info.nr_segments = client->segments.nr;
	info.segment_bytes = client->segments.bytes;
	info.nr_submitted = link->counts.submitted;
	info.nr_completed = link->counts.completed;
	info.nr_unknown = link->counts.unknown;
	info.nr_again = link->counts.again;
	info.nr_connects = link->counts.connects;
	copy_page(client, &info);
	client_unlock(client);
	return options_give(out, &info, sizeof(info));
}
