/* SPDX-License-Identifier: MIT */
/*
 * ipc_client_wait.c - threads that wait for the answers of a daemon: src/ipc/client_wait.c,
 * client.c, client_connection.c and link.c.
 *
 * The daemon is a thread with the serving side of the ring.  A request is freed as soon as
 * its wait has returned: a thread that still touches it, because it collected the answer,
 * is found.  Nobody spins, and no time passes, so a wake-up that is lost is a deadlock and
 * not a delay of 50 ms.
 *
 * With up to three delays, or two, on the memory of an x86; the first of them with one delay
 * on that of C11, too; and two drivers at once, with up to three preemptions, one with C11: a
 * waiter beside a thread that collects its answer; a leader and a
 * follower, whose answers come together or one by one, or whose request ends without the
 * daemon; a submitter that waits for a slot
 * beside a waiter; the end of the daemon, noticed by another thread, with a leader and a
 * follower.  The models do not see a reconnect (tests/stress/client_stress.c), tasks, which
 * wait for futures (sync_future), and the source of a runtime (core_source).
 */
#include "explorer.h"
#include "model_mem.h"
#include "threads_only.h"

#include "ipc/client_connection.c"
#include "ipc/client_wait.h"
#include "ipc/client_pool.h"
#include "core/trace/report.h"
#include "os/env.h"
#include "os/eventfd.h"
#include "shm/request_server.h"

#define DEPTH 2u
#define SLOT 256u
#define NR_REQUESTS 2

static union {
	struct request_memory memory;
	unsigned char bytes[sizeof(struct request_memory) +
			    DEPTH * (2 * sizeof(struct ring_entry) + SLOT)];
} shared;
static union {
	struct request_submitter submitter;
	unsigned char bytes[sizeof(struct request_submitter) +
			    DEPTH * sizeof(struct request_pending)];
} private;
static struct link_request slots[DEPTH];
static struct link_pool pools[3];

static struct sley_client client;
static struct request_server server;
static struct request taken[NR_REQUESTS];
static struct sley_request *requests[NR_REQUESTS];
static struct ledger {
	int returned, unknown, answered;
} ledger;

/* ---- what the models do without ------------------------------------------------------- */

struct mem sley__program_mem;

const char *os_env(const char *name)
{
	(void)name;
	never();
	return NULL;
}

void report_early(const struct sley_config *config, const char *format, ...)
{
	(void)config;
	(void)format;
}

/* The daemon has ended, unless it lives: the socket says so, to one driver at a time. */
static int nr_hearing;
static bool lives;

static noinline void hear_alone(void)
{
	nr_hearing++;
	model_access(&nr_hearing);
	MODEL_CHECK(nr_hearing == 1);
	nr_hearing--;
}

int os_seqpacket_recv(int fd, void *data, size_t size, int *fds,
		      uint32_t max_fds, bool waits)
{
	(void)fd, (void)data, (void)size, (void)fds, (void)max_fds, (void)waits;
	hear_alone();
	return lives ? -EAGAIN : 0;
}

/* No other daemon comes. */
int os_local_connect(const char *path)
{
	(void)path;
	return -ENOENT;
}

void os_close(int fd)
{
	(void)fd;
}

void os_eventfd_signal(int fd)
{
	(void)fd;
	never();
}

void client_source_ignore(struct sley_client *of, int fd)
{
	(void)of, (void)fd;
}

void client_source_kick(struct sley_client *of)
{
	(void)of;
}

void segment_cache_init(struct segment_cache *cache)
{
	list_init(&cache->free);
	list_init(&cache->arrived);
}

void segment_cache_drop(struct segment_cache *cache, struct list *gone)
{
	(void)gone;
	cache->epoch++;
}

void segments_unmap(struct mem *mem, struct list *gone)
{
	(void)mem;
	MODEL_CHECK(list_empty(gone));
}

/* The driver of a daemon that lives: all pools are open, and there are no segments. */
void client_pools_restore(struct sley_client *of)
{
	(void)of;
}

void client_release_segments(struct sley_client *of, const struct list *gone)
{
	(void)of;
	MODEL_CHECK(list_empty(gone));
}

/* Not reached: connecting, pools, segments, opening and closing. */
#define NOT_REACHED(name, type, ...)                                           \
	type name(__VA_ARGS__)                                                 \
	{                                                                      \
		never();                                                       \
		__builtin_unreachable();                                       \
	}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
NOT_REACHED(client_control_locked, int, struct sley_client *of,
	    struct sley_request *request, enum wire_control method,
	    const struct wire_number *in, struct wire_number *out,
	    uint32_t flags)
NOT_REACHED(client_pool_init_daemon, void, struct sley_client *of)
NOT_REACHED(client_pool_opened, void, struct sley_request *request)
NOT_REACHED(client_pools_free, void, struct sley_client *of)
NOT_REACHED(client_pools_shut, void, struct sley_client *of)
NOT_REACHED(client_source_begin, int, struct sley_client *of)
NOT_REACHED(client_source_end, void, struct sley_client *of)
NOT_REACHED(client_source_watch, int, struct sley_client *of, int fd, bool edge)
NOT_REACHED(os_fd_wait, bool, int fd, short events, int second,
	    uint64_t deadline_ns)
NOT_REACHED(os_seqpacket_send, int, int fd, const void *data, size_t size,
	    const int *fds, uint32_t nr_fds)
NOT_REACHED(os_unmap, void, void *memory, size_t size)
NOT_REACHED(packet_hello, void, struct wire_packet *out, const char *name,
	    uint32_t depth, uint32_t slot_size, bool adopt)
NOT_REACHED(request_ring_detach, void, struct request_ring *ring)
NOT_REACHED(segment_cache_ask, int, struct segment_cache *cache, uint64_t size,
	    struct list *gone)
NOT_REACHED(segment_cache_claim, struct segment *, struct segment_cache *cache,
	    uint32_t number)
NOT_REACHED(segment_cache_put, bool, struct segment_cache *cache,
	    struct segment *segment)
NOT_REACHED(segment_cache_refused, void, struct segment_cache *cache,
	    uint64_t size, uint32_t epoch)
NOT_REACHED(segment_cache_take, struct segment *, struct segment_cache *cache,
	    uint64_t bytes)
NOT_REACHED(segment_unmap, void, struct mem *mem, struct segment *segment)
NOT_REACHED(sley_strerror, const char *, int err)
#pragma GCC diagnostic pop

/* ---- the scene ------------------------------------------------------------------------- */

static void tell(int bits)
{
	MODEL_CHECK(bits >= 0);
	MODEL_CHECK(!entry_ring_tell(&shared.memory.completed, bits));
}

static void make_ring(void)
{
	struct request_ring ring = { .memory = &shared.memory,
				     .depth = DEPTH,
				     .slot_size = SLOT,
				     .size = request_ring_size(DEPTH, SLOT) };

	request_ring_begin_life(&ring, 1, 0);
	request_submitter_init(&private.submitter, &ring);
	request_server_init(&server, &ring);
	client.ring = ring;
	client.link.submitter = &private.submitter;
}

static void make_client(void)
{
	memset(&client, 0, sizeof(client));
	memset(slots, 0, sizeof(slots));
	memset(pools, 0, sizeof(pools));
	link_init(&client.link, &sley__program_mem, SLEY_SEC);
	make_ring();
	client.link.requests = slots;
	client.link.pools = pools;
	client.link.nr_pools = 3;
	client.link.state = LINK_LIVE;
	pools[1] = (struct link_pool){ LINK_POOL_OPEN, 1, 0 };
	pools[2] = (struct link_pool){ LINK_POOL_GONE, 0, -ENOENT };
	client.daemon.client = &client;
	client.socket = client.bell = client.server_bell = 1;
	client.look_ns = client.try_ns = UINT64_MAX;
	client.is_live = 1;
	segment_cache_init(&client.segments);
	sley_event_init(&client.handover, true, false);
	sley_event_init(&client.room, true, false);
	model_lock_word(&client.handover.q.word);
	model_lock_word(&client.room.q.word);
	model_name(&client.duty, "duty");
	model_name(&client.lock, "lock");
	model_name(&client.epoch, "epoch");
	model_name(&shared.memory.completed, "completed");
}

static struct sley_request *make_request(void)
{
	struct sley_request *request = model_alloc(sizeof(*request));

	memset(request, 0, sizeof(*request));
	request->series = &client.daemon.pool;
	request->remote = 1;
	model_lock_word(&request->done.done.q.word);
	model_name(&request->done.done.q.word, "future");
	return request;
}

/* With the lock, or before there are threads.  False: no slot is free. */
static bool put_for(uint32_t pool, struct sley_request *request)
{
	struct link_submission what = { .pool = pool, .owner = request };
	int64_t slot = link_submit(&client.link, &what);

	if (slot >= 0)
		request->worker = (uint32_t)slot;
	return slot >= 0;
}

static bool put(struct sley_request *request)
{
	return put_for(1, request);
}

static void setup_with(int nr, uint32_t nr_reserve)
{
	ledger = (struct ledger){ 0 };
	model_ledger(&ledger, sizeof(ledger));
	nr_hearing = 0;
	lives = false;
	make_client();
	client.link.nr_reserve = nr_reserve;
	for (int i = 0; i < nr; i++) {
		requests[i] = make_request();
		MODEL_CHECK(put(requests[i]));
	}
	MODEL_CHECK(link_publish(&client.link) == 0);
	for (int i = 0; i < nr; i++)
		MODEL_CHECK(request_take(&server, &taken[i], NULL) == 1);
}

static void no_request(void)
{
	setup_with(0, 0);
}

static void one_request(void)
{
	setup_with(1, 0);
}

static void two_requests(void)
{
	setup_with(2, 0);
}

static void one_request_of_a_daemon_that_lives(void)
{
	one_request();
	lives = true;
}

/* One slot for requests: the second request has to wait for it. */
static void one_slot(void)
{
	setup_with(1, 1);
}

/* ---- the threads ------------------------------------------------------------------------ */

static void wait_for(struct sley_request *request)
{
	MODEL_CHECK(client_wait(&client, request, 0) == 0);
	if (request->code == SLEY_EUNKNOWN)
		ledger.unknown++;
	else
		ledger.answered++;
	ledger.returned++;
	model_free(request);
}

static void waiter(int id)
{
	wait_for(requests[id]);
}

static void collector(int id)
{
	(void)id;
	(void)client_collect(&client);
}

static void answer(int i)
{
	MODEL_CHECK(request_put_answer(&server, &taken[i], wire_answer(0, 0),
				       NULL, 0) == 0);
	tell(request_publish_answers(&server));
}

static void answerer(int id)
{
	(void)id;
	answer(0);
}

static void answerer_of_two(int id)
{
	(void)id;
	if (model_choose(2)) {
		answer(0);
		answer(1);
	} else {
		answer(1);
		answer(0);
	}
}

/* Waits for room, and then for its answer. */
static void submitter(int id)
{
	struct sley_request *request = make_request();
	bool accepted = false;

	(void)id;
	while (!accepted) {
		client_lock(&client);
		accepted = put(request);
		client_unlock(&client);
		if (!accepted)
			MODEL_CHECK(client_wait_room(&client, 0) == 0);
	}
	wait_for(request);
}

/* The daemon has no such pool; it answers the other thread afterwards. */
static void submitter_to_nowhere(int id)
{
	struct sley_request *request = make_request();

	client_lock(&client);
	MODEL_CHECK(put_for(2, request));
	client_unlock(&client);
	MODEL_CHECK(client_wait(&client, request, 0) == 0);
	MODEL_CHECK(request->code == -ENOENT);
	model_free(request);
	answerer(id);
}

static void server_of_two(int id)
{
	const struct entry_reader *reader = &server.submissions;

	(void)id;
	answer(0);
	while (!request_take(&server, &taken[1], NULL))
		MODEL_CHECK(entry_ring_await(reader->word,
					     entry_ring_seen(reader), 0,
					     UINT64_MAX) == 0);
	answer(1);
}

/* The source of a runtime, or a poll, has heard of the end. */
static void driver(int id)
{
	(void)id;
	(void)connection_drive_now(&client);
}

static void all_returned(void)
{
	MODEL_CHECK(client.link.nr_used == 0);
	MODEL_CHECK(client.duty == 0);
	MODEL_CHECK(client.nr_room_waiters == 0);
}

static void one_answered(void)
{
	all_returned();
	MODEL_CHECK(ledger.answered == 1);
}

static void two_answered(void)
{
	all_returned();
	MODEL_CHECK(ledger.answered == 2);
}

static void two_unknown(void)
{
	all_returned();
	MODEL_CHECK(ledger.unknown == 2);
}

/* The daemon may have answered one of them before its end. */
static void two_told(void)
{
	all_returned();
	MODEL_CHECK(ledger.returned == 2);
}

/* Whatever is urgent was looked at after it was said. */
static void nothing_is_urgent(void)
{
	MODEL_CHECK(client.link.state == LINK_LOST);
	MODEL_CHECK(!client.urgent && !client.driving);
}

#define X86 (MODEL_SC | MODEL_TSO)

MODEL(a_waiter_beside_a_collector, .setup = one_request,
      .threads = { waiter, collector, answerer }, .finish = one_answered,
      .modes = X86, .delays = 3, .steps = 4000);

MODEL(a_leader_and_a_follower, .setup = two_requests,
      .threads = { waiter, waiter, answerer_of_two }, .finish = two_answered,
      .modes = X86, .delays = 3, .steps = 4000);

MODEL(a_request_that_ends_at_once_beside_a_waiter,
      .setup = one_request_of_a_daemon_that_lives,
      .threads = { waiter, submitter_to_nowhere }, .finish = one_answered,
      .modes = X86, .delays = 3, .steps = 4000);

MODEL(a_submitter_beside_a_waiter, .setup = one_slot,
      .threads = { waiter, submitter, server_of_two }, .finish = two_answered,
      .modes = X86, .delays = 2, .steps = 4000);

MODEL(the_end_of_the_daemon_is_noticed, .setup = two_requests,
      .threads = { waiter, waiter, driver }, .finish = two_unknown,
      .modes = X86, .delays = 2, .steps = 4000);

MODEL(an_answer_before_the_end_of_the_daemon, .setup = two_requests,
      .threads = { waiter, waiter, driver, answerer }, .finish = two_told,
      .modes = X86, .delays = 2, .steps = 4000);

/* C11 lets each load of the rings find several values: 316,691 executions. */
MODEL(a_waiter_beside_a_collector_in_c11, .setup = one_request,
      .threads = { waiter, collector, answerer }, .finish = one_answered,
      .modes = MODEL_RA, .delays = 1, .steps = 4000, .slow = true);

MODEL(two_drivers, .setup = no_request, .threads = { driver, driver },
      .finish = nothing_is_urgent, .modes = X86, .bound = 3, .steps = 4000);

MODEL(two_drivers_in_c11, .setup = no_request, .threads = { driver, driver },
      .finish = nothing_is_urgent, .modes = MODEL_RA, .bound = 1,
      .steps = 4000);
