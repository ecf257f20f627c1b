/* SPDX-License-Identifier: MIT */
/*
 * ipc_hostile.c - a client that writes garbage into its ring, as fast as it can, while the
 * daemon serves it, and an honest client beside it.
 *
 * The daemon lives, throws the hostile client out each time, and keeps nothing of it.  Each
 * call of the honest client has its answer, while the garbage is there.  Under AddressSanitizer the daemon is, too.
 *
 * $IPC_WRITES is how many writes; "make prove" has ten million.  There the honest client is
 * measured as well: its calls must not take twice as long (p99) as beside a process that
 * spins as much and writes nothing.
 */
#include "stress/ipc_scene.h"

#include "ipc/packet.h"
#include "os/eventfd.h"
#include "os/local_socket.h"
#include "os/map.h"
#include "os/seqpacket.h"
#include "os/shared_memory.h"
#include "shm/request_submitter.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WRITES 4000 /* of a connection, at most */
#define KINDS 7     /* of writes                */

struct intruder {
	int socket;
	int fds[WIRE_FDS_MAX];
	struct request_ring ring;
	struct request_submitter *submitter;
	uint32_t kind; /* of what it writes */
};

static uint32_t nr_writes(void)
{
	const char *text = getenv("IPC_WRITES");

	return text ? (uint32_t)strtoul(text, NULL, 0) : 100000;
}

/* ---- the intruder ------------------------------------------------------------------------ */

static bool receive(struct intruder *intruder, struct wire_packet *packet)
{
	int result;

	do {
		result = os_seqpacket_recv(intruder->socket, packet,
					   sizeof(*packet), intruder->fds,
					   WIRE_FDS_MAX, false);
		if (result == -EAGAIN)
			usleep(50);
	} while (result == -EAGAIN);
	return result == 1;
}

static void ring_bell(const struct intruder *intruder)
{
	os_eventfd_signal(intruder->fds[WIRE_FD_SERVER_BELL]);
}

/* Opens the pool, so that requests run.  An answer comes: the daemon serves the ring. */
static void settle(struct intruder *intruder)
{
	struct {
		struct wire_head head;
		struct wire_open open;
	} data = { .head = { .method = WIRE_CONTROL_OPEN,
			     .out_room = sizeof(struct wire_opened) },
		   .open = { .pool = "work" } };
	struct request_submission what = { .data = &data,
					   .size = sizeof(data) };
	struct request_answer answer;
	uint64_t id;

	CHECK_EQ(request_submit(intruder->submitter, &what, &id), 0);
	CHECK_GE(request_publish(intruder->submitter), 0);
	ring_bell(intruder);
	while (request_collect(intruder->submitter, &answer, NULL) != 1)
		usleep(50);
	CHECK_EQ(wire_answer_code(answer.value), 0);
}

static void enter(struct intruder *intruder, const char *path)
{
	struct wire_packet packet;
	int fd = os_local_connect(path);

	memset(intruder, 0, sizeof(*intruder));
	intruder->socket = fd;
	CHECK_GE(fd, 0);
	packet_hello(&packet, "intruder", 16, 256, false);
	CHECK_EQ(os_seqpacket_send(fd, &packet, sizeof(packet), NULL, 0), 0);
	CHECK(receive(intruder, &packet));
	CHECK_EQ(packet.kind, WIRE_WELCOME);
	CHECK_EQ(request_ring_attach(&intruder->ring,
				     intruder->fds[WIRE_FD_RING]),
		 0);
	intruder->submitter =
		malloc(request_submitter_size(intruder->ring.depth));
	request_submitter_init(intruder->submitter, &intruder->ring);
	packet_ready(&packet, intruder->ring.life);
	CHECK_EQ(os_seqpacket_send(fd, &packet, sizeof(packet), NULL, 0), 0);
	settle(intruder);
}

static void leave(struct intruder *intruder)
{
	for (int i = 0; i < WIRE_FDS_MAX; i++)
		os_close(intruder->fds[i]);
	os_close(intruder->socket);
	request_ring_detach(&intruder->ring);
	free(intruder->submitter);
}

/* A request that may be right, but for what is written over it. */
static void submit(struct intruder *intruder)
{
	struct {
		struct wire_head head;
		struct ipc_task task;
	} data = { .head = { .pool = (uint32_t)test_random(3),
			     .method = (uint32_t)test_random(6),
			     .flags = (uint16_t)test_random(9),
			     .out_room = (uint32_t)test_random(300) },
		   .task = { .sleep_ns = (uint32_t)test_random(1000000) } };
	struct request_submission what = {
		.data = &data,
		.size = test_random(4) ? sizeof(data) : sizeof(data.head)
	};
	struct request_answer answer;
	uint64_t id;

	if (test_random(2))
		data.head = (struct wire_head){ .pool = 1, .out_room = 8 };
	while (request_collect(intruder->submitter, &answer, NULL) > 0)
		;
	if (request_submit(intruder->submitter, &what, &id) == 0)
		(void)!request_publish(intruder->submitter);
	/* Go on, whatever was found. */
	intruder->submitter->broken = false;
}

static void scribble(struct intruder *intruder)
{
	struct request_memory *memory =
		(struct request_memory *)intruder->ring.memory;
	volatile struct ring_entry *entry =
		&memory->entries[test_random(2 * intruder->ring.depth)];
	volatile unsigned char *bytes = (volatile unsigned char *)memory;

	switch (intruder->kind < KINDS ? intruder->kind : test_random(KINDS)) {
	case 0:
		*(volatile uint32_t *)&memory->submitted +=
			(uint32_t)test_random(200);
		break;
	case 1:
		*(volatile uint32_t *)&memory->completed ^= 1u
							    << test_random(32);
		break;
	case 2:
		*(volatile uint64_t *)&memory->begun = test_random(UINT64_MAX);
		break;
	case 3:
		entry->slot =
			(uint32_t)test_random(test_random(2) ? 20 : UINT32_MAX);
		break;
	case 4:
		entry->size = (uint32_t)test_random(600);
		break;
	case 5:
		entry->id ^= 1ull << test_random(40);
		break;
	default:
		bytes[test_random(intruder->ring.size)] =
			(unsigned char)test_random(256);
	}
}

/* Beside the garbage, while the daemon has it before its eyes. */
static void await_honest_call(const struct ipc_scene *scene, uint32_t seen)
{
	while (atomic_load(&scene->page->nr_samples) == seen)
		usleep(100);
}

/* If the daemon has not noticed anything so far, it does now. */
static void be_thrown_out(struct intruder *intruder)
{
	struct request_memory *memory =
		(struct request_memory *)intruder->ring.memory;
	struct wire_packet packet = { .kind = 0 };

	*(volatile uint32_t *)&memory->submitted += 1u << 31;
	ring_bell(intruder);
	CHECK(receive(intruder, &packet));
	CHECK_EQ(packet.kind, WIRE_GOODBYE);
	CHECK_EQ(packet.code, -EPROTO);
	CHECK(!receive(intruder, &packet));
}

/* How many writes. */
static uint32_t visit(struct ipc_scene *scene, uint32_t max)
{
	uint32_t seen = atomic_load(&scene->page->nr_samples), nr = 0;
	struct intruder intruder;

	enter(&intruder, scene->path);
	/* The first nonsense that is noticed ends the visit: so each kind has its own. */
	intruder.kind = atomic_load(&scene->page->nr_visits) % (KINDS + 1);
	for (; nr < WRITES && nr < max; nr++) {
		if (nr % 16 == 0)
			submit(&intruder);
		scribble(&intruder);
		if (nr % 64 == 0)
			ring_bell(&intruder);
	}
	await_honest_call(scene, seen);
	be_thrown_out(&intruder);
	leave(&intruder);
	atomic_fetch_add(&scene->page->nr_visits, 1);
	return nr;
}

static void intrude(void *arg)
{
	struct ipc_scene *scene = arg;
	uint32_t left = nr_writes();

	while (left)
		left -= visit(scene, left);
}

static void spin(void *arg)
{
	const struct ipc_scene *scene = arg;

	while (!atomic_load(&scene->page->stop))
		;
}

/* ---- the honest client ------------------------------------------------------------------- */

static uint64_t p99_of(const struct ipc_page *page)
{
	static uint64_t sorted[IPC_SAMPLES];
	uint32_t nr = atomic_load(&page->nr_samples);

	nr = nr < IPC_SAMPLES ? nr : IPC_SAMPLES;
	CHECK_GT(nr, 0);
	for (uint32_t i = 0; i < nr; i++)
		sorted[i] = atomic_load(&page->samples_ns[i]);
	return cast_percentile(sorted, nr, 99);
}

static bool is_long(void)
{
	return nr_writes() >= 10000000;
}

/* The CPUs are taken, perhaps by other tests as well. */
static void await_calls(const struct ipc_scene *scene, uint32_t nr)
{
	while (atomic_load(&scene->page->nr_samples) < nr)
		usleep(1000);
}

/* The honest client, until it has made some calls. */
static uint64_t measure_beside_spinning(struct ipc_scene *scene)
{
	pid_t client = cast_fork(ipc_measured_client, scene);
	pid_t other = cast_fork(spin, scene);

	await_calls(scene, is_long() ? IPC_SAMPLES : (uint32_t)test_scale(400));
	atomic_store(&scene->page->stop, true);
	cast_reap(client, 0);
	cast_reap(other, 0);
	atomic_store(&scene->page->stop, false);
	return p99_of(scene->page);
}

static uint64_t measure_beside_intruder(struct ipc_scene *scene)
{
	pid_t client = cast_fork(ipc_measured_client, scene);
	pid_t other = cast_fork(intrude, scene);

	cast_reap(other, 0);
	atomic_store(&scene->page->stop, true);
	cast_reap(client, 0);
	atomic_store(&scene->page->stop, false);
	return p99_of(scene->page);
}

static void prove(const struct ipc_scene *scene, uint32_t nr_calls,
		  uint64_t besieged_ns, uint64_t quiet_ns)
{
	if (getenv("IPC_WRITES"))
		test_reliability(
			"hostile writes", nr_writes(),
			(struct test_figure[]){
				{ "thrown out",
				  atomic_load(&scene->page->nr_ejected) },
				{ "calls beside", nr_calls },
				{ "p99 us", (double)besieged_ns / 1e3 },
				{ "p99 us beside a process that spins",
				  (double)quiet_ns / 1e3 } },
			4);
}

TEST(garbage_in_a_ring_harms_its_writer_alone)
{
	uint32_t nr_calls;
	uint64_t quiet_ns, besieged_ns;
	struct ipc_scene scene;

	test_timeout(is_long() ? 3000 : 100);
	ipc_begin(&scene);
	quiet_ns = measure_beside_spinning(&scene);
	atomic_store(&scene.page->nr_samples, 0);
	besieged_ns = measure_beside_intruder(&scene);
	nr_calls = atomic_load(&scene.page->nr_samples);
	if (is_long())
		CHECK_LT(besieged_ns, 2 * quiet_ns);
	ipc_check_nothing_is_left(&scene);
	printf("     %u writes, thrown out %u times, beside %u calls; p99 of a "
	       "call %.1f us, and %.1f us beside a process that spins\n",
	       nr_writes(), atomic_load(&scene.page->nr_ejected), nr_calls,
	       (double)besieged_ns / 1e3, (double)quiet_ns / 1e3);
	CHECK_EQ(atomic_load(&scene.page->nr_ejected),
		 atomic_load(&scene.page->nr_visits));
	/* What an intruder has had run is nobody's. */
	atomic_store(&scene.page->nr_stale, 0);
	atomic_store(&scene.page->nr_twice, 0);
	test_count(nr_writes());
	prove(&scene, nr_calls, besieged_ns, quiet_ns);
	ipc_end(&scene);
}
