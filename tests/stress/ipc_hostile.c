/* SPDX-License-Identifier: MIT */
/*
 * ipc_hostile.c - a client that writes garbage into its ring, as fast as it can, while the
 * daemon serves it, and an honest client beside it.
 *
 * The daemon lives, throws the hostile client out again and again, and keeps nothing of it;
 * each call of the honest client has its answer.  Under AddressSanitizer the daemon is, too.
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

#define BURST 500 /* writes between two looks at the socket */
#define BURSTS 8  /* of a connection, at most               */

struct intruder {
	int socket;
	int fds[WIRE_FDS_MAX];
	struct request_ring ring;
	struct request_submitter *submitter;
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

/* False: the daemon has no room at the moment. */
static bool enter(struct intruder *intruder, const char *path)
{
	struct wire_packet packet;
	int fd = os_local_connect(path);

	memset(intruder, 0, sizeof(*intruder));
	memset(intruder->fds, -1, sizeof(intruder->fds));
	intruder->socket = fd;
	if (fd < 0)
		return false;
	packet_hello(&packet, "intruder", 16, 256, false);
	(void)!os_seqpacket_send(fd, &packet, sizeof(packet), NULL, 0);
	if (!receive(intruder, &packet) || packet.kind != WIRE_WELCOME ||
	    request_ring_attach(&intruder->ring, intruder->fds[WIRE_FD_RING]))
		return false;
	intruder->submitter =
		malloc(request_submitter_size(intruder->ring.depth));
	request_submitter_init(intruder->submitter, &intruder->ring);
	packet_ready(&packet, intruder->ring.life);
	(void)!os_seqpacket_send(fd, &packet, sizeof(packet), NULL, 0);
	return true;
}

static void leave(struct intruder *intruder)
{
	for (int i = 0; i < WIRE_FDS_MAX; i++)
		os_close(intruder->fds[i]);
	os_close(intruder->socket);
	request_ring_detach(&intruder->ring);
	free(intruder->submitter);
}

/* A request that is right, but for what is written over it. */
static void submit(struct intruder *intruder)
{
	struct wire_head head = { .pool = (uint32_t)test_random(3),
				  .method = (uint32_t)test_random(6),
				  .flags = (uint16_t)test_random(9),
				  .out_room = (uint32_t)test_random(300) };
	struct request_submission what = { .data = &head,
					   .size = sizeof(head) };
	struct request_answer answer;
	uint64_t id;

	while (request_collect(intruder->submitter, &answer, NULL) > 0)
		;
	if (request_submit(intruder->submitter, &what, &id) == 0)
		(void)!request_publish(intruder->submitter);
	/* Go on, whatever was found. */
	intruder->submitter->broken = false;
}

static void scribble(struct intruder *intruder)
{
	struct request_memory *memory = intruder->ring.memory;
	volatile struct ring_entry *entry =
		&memory->entries[test_random(2 * intruder->ring.depth)];
	volatile unsigned char *bytes = (volatile unsigned char *)memory;

	switch (test_random(8)) {
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
		entry->slot = (uint32_t)test_random(20);
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

static void intrude(struct ipc_scene *scene)
{
	uint32_t left = nr_writes();
	struct intruder intruder;

	while (left) {
		if (!enter(&intruder, scene->path)) {
			leave(&intruder);
			usleep(100);
			continue;
		}
		for (uint32_t i = 0; i < BURSTS && left; i++) {
			for (uint32_t j = 0; j < BURST && left; j++, left--) {
				if (j % 16 == 0)
					submit(&intruder);
				scribble(&intruder);
				if (j % 64 == 0)
					os_eventfd_signal(
						intruder.fds
							[WIRE_FD_SERVER_BELL]);
			}
		}
		leave(&intruder);
	}
}

static void spin(struct ipc_scene *scene)
{
	while (!atomic_load(&scene->page->stop))
		;
}

/* ---- the honest client ------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t p99_of(const struct ipc_page *page)
{
	static uint64_t sorted[IPC_SAMPLES];
	uint32_t nr = atomic_load(&page->nr_samples);

	nr = nr < IPC_SAMPLES ? nr : IPC_SAMPLES;
	CHECK_GT(nr, 0);
	for (uint32_t i = 0; i < nr; i++)
		sorted[i] = atomic_load(&page->samples_ns[i]);
	qsort(sorted, nr, sizeof(sorted[0]), compare);
	return sorted[nr * 99 / 100];
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
	pid_t client = ipc_fork(scene, ipc_measured_client);
	pid_t other = ipc_fork(scene, spin);

	await_calls(scene, is_long() ? IPC_SAMPLES : (uint32_t)test_scale(400));
	atomic_store(&scene->page->stop, true);
	ipc_join(client);
	ipc_join(other);
	atomic_store(&scene->page->stop, false);
	return p99_of(scene->page);
}

static uint64_t measure_beside_intruder(struct ipc_scene *scene)
{
	pid_t client = ipc_fork(scene, ipc_measured_client);
	pid_t other = ipc_fork(scene, intrude);

	ipc_join(other);
	atomic_store(&scene->page->stop, true);
	ipc_join(client);
	atomic_store(&scene->page->stop, false);
	return p99_of(scene->page);
}

TEST(garbage_in_a_ring_harms_its_writer_alone)
{
	uint32_t nr_fds, nr_maps, nr_calls;
	uint64_t quiet_ns, besieged_ns;
	struct ipc_scene scene;

	test_timeout(is_long() ? 3000 : 100);
	ipc_begin(&scene);
	nr_fds = atomic_load(&scene.page->nr_fds);
	nr_maps = atomic_load(&scene.page->nr_maps);
	quiet_ns = measure_beside_spinning(&scene);
	atomic_store(&scene.page->nr_samples, 0);
	besieged_ns = measure_beside_intruder(&scene);
	nr_calls = atomic_load(&scene.page->nr_samples);
	if (is_long())
		CHECK_LT(besieged_ns, 2 * quiet_ns);
	ipc_await_look(&scene);
	CHECK_EVENTUALLY(atomic_load(&scene.page->nr_sessions) == 0);
	printf("     %u writes, thrown out %u times, beside %u calls; p99 of a "
	       "call %.1f us, and %.1f us beside a process that spins\n",
	       nr_writes(), atomic_load(&scene.page->nr_ejected), nr_calls,
	       (double)besieged_ns / 1e3, (double)quiet_ns / 1e3);
	CHECK_GT(atomic_load(&scene.page->nr_ejected), 0);
	CHECK_EVENTUALLY(atomic_load(&scene.page->nr_fds) == nr_fds);
	CHECK_EVENTUALLY(atomic_load(&scene.page->nr_maps) == nr_maps);
	/* What an intruder has had run is nobody's. */
	atomic_store(&scene.page->nr_stale, 0);
	test_count(nr_writes());
	ipc_end(&scene);
}
