/* SPDX-License-Identifier: MIT */
/*
 * domain_host.c - what a host lets in, and what it sends away: guests that speak wrongly,
 * bring pages that are none, come in crowds, or do not listen.
 */
#include "conformance/domain/stage.h"

#include "os/seqpacket.h"
#include "os/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>

static struct domain_packet packet;

static void say_hello(int socket, int fd)
{
	domain_packet_hello(&packet, "guest", 1);
	guest_send(socket, &packet, sizeof(packet), fd);
}

/* A page with these seals and this size is refused with @code. */
static void bring(size_t size, int seals, int code)
{
	int fd = memfd_create("page", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int socket = guest_connect();

	CHECK_GE(fd, 0);
	CHECK_EQ(ftruncate(fd, (off_t)size), 0);
	CHECK_EQ(fcntl(fd, F_ADD_SEALS, seals), 0);
	say_hello(socket, fd);
	CHECK_EQ(guest_hear(socket, &packet), DOMAIN_REFUSED);
	CHECK_EQ(packet.code, code);
	CHECK_EQ(guest_hear(socket, &packet), 0);
	close(socket);
	close(fd);
}

#define FUTURE_WRITE 0x10 /* F_SEAL_FUTURE_WRITE */

TEST(a_page_that_another_process_could_change_is_refused)
{
	const int seals[] = { F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_SEAL,
			      FUTURE_WRITE };
	struct sley_domain_host *host;
	int all = 0;

	stage_open();
	host = host_start();
	for (size_t i = 0; i < ARRAY_SIZE(seals); i++)
		all |= seals[i];
	for (size_t i = 0; i < ARRAY_SIZE(seals); i++)
		bring(DOMAIN_PAGE_SIZE, all & ~seals[i], -EPERM);
	CHECK(strstr(stage_line(), "not sealed"));
	/* All seals, and no page of a domain in it. */
	bring(DOMAIN_PAGE_SIZE, all, -EBADMSG);
	CHECK_EQ(nr_members(), 0);
	sley_domain_host_destroy(host);
	stage_close();
}

TEST(a_page_of_another_size_is_refused)
{
	int all = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | FUTURE_WRITE;
	const size_t sizes[] = { 0, 1, DOMAIN_PAGE_SIZE - 1,
				 DOMAIN_PAGE_SIZE + 1, 1 << 20 };
	struct sley_domain_host *host;

	stage_open();
	host = host_start();
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		bring(sizes[i], all, -EMSGSIZE);
	sley_domain_host_destroy(host);
	stage_close();
}

TEST(a_page_of_another_version_is_refused)
{
	struct sley_domain_host *host;
	struct member_page *page;

	stage_open();
	host = host_start();
	for (int i = 0; i < 2; i++) {
		int socket = guest_connect(), fd = page_make(&page);

		page->version += i == 0;
		page->magic += i == 1;
		say_hello(socket, fd);
		CHECK_EQ(guest_hear(socket, &packet), DOMAIN_REFUSED);
		CHECK_EQ(packet.code, -EBADMSG);
		close(socket);
		close(fd);
		CHECK_EQ(munmap(page, DOMAIN_PAGE_SIZE), 0);
	}
	sley_domain_host_destroy(host);
	stage_close();
}

TEST(a_descriptor_that_is_no_memory_is_refused)
{
	const char *names[] = { "/dev/null", "/proc/self/exe", "/tmp" };
	struct sley_domain_host *host;

	stage_open();
	host = host_start();
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		int socket = guest_connect(), fd = open(names[i], O_RDONLY);

		CHECK_GE(fd, 0);
		say_hello(socket, fd);
		CHECK_EQ(guest_hear(socket, &packet), DOMAIN_REFUSED);
		CHECK_EQ(packet.code, -EPERM);
		close(socket);
		close(fd);
	}
	sley_domain_host_destroy(host);
	stage_close();
}

/* ---- packets ------------------------------------------------------------------------- */

TEST(packets_that_are_none_end_the_connection)
{
	static const char garbage[300] = "garbage";
	const size_t sizes[] = { 1, sizeof(packet) - 1, sizeof(packet),
				 sizeof(packet) + 1, sizeof(garbage) };
	struct sley_domain_host *host;

	stage_open();
	host = host_start();
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		int socket = guest_connect();

		guest_send(socket, garbage, sizes[i], -1);
		CHECK_EQ(guest_hear(socket, &packet), DOMAIN_REFUSED);
		CHECK_EQ(packet.code, -EPROTO);
		CHECK_EQ(guest_hear(socket, &packet), 0);
		close(socket);
	}
	CHECK_EQ(nr_members(), 0);
	sley_domain_host_destroy(host);
	stage_close();
}

TEST(a_member_that_says_hello_again_is_sent_away)
{
	struct sley_domain_host *host;
	struct member_guest guest, other;
	int fd;

	stage_open();
	host = host_start();
	guest_join(&guest);
	guest_join(&other);
	fd = page_make(&(struct member_page *){ NULL });
	say_hello(guest.socket, fd);
	while (guest_hear(guest.socket, &packet) != DOMAIN_REFUSED)
		CHECK_EQ(packet.kind, DOMAIN_PEER);
	CHECK_EQ(packet.code, -EPROTO);
	/* The other one goes on, and is told. */
	CHECK_EQ(guest_hear(other.socket, &packet), DOMAIN_PEER);
	CHECK_EQ(guest_hear(other.socket, &packet), DOMAIN_GONE);
	CHECK_EQ(packet.index, 0);
	CHECK_EQ(nr_members(), 1);
	close(fd);
	guest_leave(&guest);
	guest_leave(&other);
	sley_domain_host_destroy(host);
	stage_close();
}

TEST(another_version_of_the_protocol_is_refused_with_both_versions)
{
	struct sley_domain_host *host;
	int socket;

	stage_open();
	host = host_start();
	socket = guest_connect();
	domain_packet_list(&packet);
	packet.major = 9;
	guest_send(socket, &packet, sizeof(packet), -1);
	CHECK_EQ(guest_hear(socket, &packet), DOMAIN_REFUSED);
	CHECK_EQ(packet.code, -EPROTONOSUPPORT);
	CHECK(strstr(packet.text, "9.1"));
	CHECK(strstr(packet.text, "1.1"));
	close(socket);
	sley_domain_host_destroy(host);
	stage_close();
}

/* ---- crowds -------------------------------------------------------------------------- */

TEST(there_are_64_members_and_no_65th)
{
	static struct member_guest guest[DOMAIN_MEMBERS_MAX];
	struct sley_domain_host *host;
	struct member_page *page;
	int socket, fd;

	stage_open();
	host = host_start();
	for (uint32_t i = 0; i < DOMAIN_MEMBERS_MAX; i++)
		guest_join(&guest[i]);
	CHECK_EQ(nr_members(), DOMAIN_MEMBERS_MAX);
	socket = guest_connect();
	fd = page_make(&page);
	say_hello(socket, fd);
	CHECK_EQ(guest_hear(socket, &packet), DOMAIN_REFUSED);
	CHECK_EQ(packet.code, -EUSERS);
	close(socket);
	/* Each has a seat of its own, and was told of all others. */
	for (uint32_t i = 0; i < DOMAIN_MEMBERS_MAX; i++) {
		uint64_t others = 0;

		while (others != (UINT64_MAX & ~(1ull << i))) {
			CHECK_EQ(guest_hear(guest[i].socket, &packet),
				 DOMAIN_PEER);
			CHECK(!(others >> packet.index & 1));
			others |= 1ull << packet.index;
		}
	}
	guest_leave(&guest[5]);
	CHECK_EQ(guest_hear(guest[6].socket, &packet), DOMAIN_GONE);
	CHECK_EQ(packet.index, 5);
	/* The next one has the seat, in another generation. */
	guest_join(&guest[5]);
	CHECK_EQ(guest_hear(guest[6].socket, &packet), DOMAIN_PEER);
	CHECK_EQ(packet.index, 5);
	for (uint32_t i = 0; i < DOMAIN_MEMBERS_MAX; i++)
		guest_leave(&guest[i]);
	close(fd);
	CHECK_EQ(munmap(page, DOMAIN_PAGE_SIZE), 0);
	CHECK_EVENTUALLY(nr_members() == 0);
	sley_domain_host_destroy(host);
	stage_close();
}

TEST(ru7_a_seat_is_never_the_same_twice)
{
	struct sley_domain_host *host;
	struct member_guest guest, watcher;
	uint64_t last = 0;

	stage_open();
	host = host_start();
	guest_join(&watcher);
	for (int i = 0; i < 20; i++) {
		guest_join(&guest);
		CHECK_EQ(guest_hear(watcher.socket, &packet), DOMAIN_PEER);
		CHECK_GT(packet.generation, last);
		last = packet.generation;
		guest_leave(&guest);
		CHECK_EQ(guest_hear(watcher.socket, &packet), DOMAIN_GONE);
		CHECK_EQ(packet.generation, last);
	}
	guest_leave(&watcher);
	sley_domain_host_destroy(host);
	stage_close();
}

TEST(more_guests_that_say_nothing_than_there_are_places_are_sent_away)
{
	static int silent[100]; /* and there are 96 places, one for a member */
	struct sley_domain_host *host;
	struct member_guest guest;

	stage_open();
	host = host_start();
	guest_join(&guest);
	for (size_t i = 0; i < ARRAY_SIZE(silent); i++)
		silent[i] = guest_connect();
	for (size_t i = 95; i < ARRAY_SIZE(silent); i++) {
		CHECK_EQ(guest_hear(silent[i], &packet), DOMAIN_REFUSED);
		CHECK_EQ(packet.code, -EUSERS);
	}
	for (size_t i = 0; i < ARRAY_SIZE(silent); i++)
		close(silent[i]);
	CHECK_EVENTUALLY(nr_members() == 1);
	guest_leave(&guest);
	sley_domain_host_destroy(host);
	stage_close();
}

TEST(a_member_that_does_not_read_its_packets_is_sent_away)
{
	struct sley_domain_host *host;
	struct member_guest deaf, guest;

	stage_open();
	host = host_start();
	guest_join(&deaf);
	for (int i = 0; i < 5000 && !strstr(stage_line(), "does not read");
	     i++) {
		guest_join(&guest);
		guest_leave(&guest);
	}
	CHECK(strstr(stage_line(), "does not read"));
	CHECK_EVENTUALLY(nr_members() == 0);
	/* What was sent before can be read, and then the end. */
	while (guest_hear(deaf.socket, &packet))
		CHECK_NE(packet.kind, DOMAIN_WELCOME);
	guest_leave(&deaf);
	sley_domain_host_destroy(host);
	stage_close();
}

/* ---- users --------------------------------------------------------------------------- */

TEST(another_user_may_not_join)
{
	struct sley_domain_host *host;
	struct actor stranger, friend;

	if (getuid() != 0)
		test_skip("only root can become another user");
	stage_open();
	actor_start(&stranger);
	actor_start(&friend);
	host = host_start_with(
		(struct sley_domain_host_options){ .mode = 0666 });
	CHECK_EQ(actor_do(&stranger, ACTOR_NOBODY), 0);
	CHECK_EQ(actor_do(&stranger, ACTOR_JOIN), -EACCES);
	CHECK_EQ(actor_do(&friend, ACTOR_JOIN), 0);
	CHECK_EQ(nr_members(), 1);
	actor_end(&stranger);
	actor_end(&friend);
	sley_domain_host_destroy(host);
	stage_close();
}

static bool may_all(void *self, const struct sley_domain_peer *peer)
{
	atomic_store((atomic_uint *)self, peer->uid);
	return true;
}

TEST(a_host_may_let_other_users_in)
{
	struct sley_domain_host *host;
	struct actor stranger;
	atomic_uint uid = 0;

	if (getuid() != 0)
		test_skip("only root can become another user");
	stage_open();
	actor_start(&stranger);
	host = host_start_with((struct sley_domain_host_options){
		.mode = 0666, .may_join = may_all, .self = &uid });
	CHECK_EQ(actor_do(&stranger, ACTOR_NOBODY), 0);
	CHECK_EQ(actor_do(&stranger, ACTOR_JOIN), 0);
	CHECK_EQ(atomic_load(&uid), 65534);
	/* Until this process asks, which is another user again. */
	CHECK_EQ(member_at(0).uid, 65534);
	actor_end(&stranger);
	sley_domain_host_destroy(host);
	stage_close();
}

/* ---- the end ------------------------------------------------------------------------- */

static void *wait_for_end(void *arg)
{
	sley_domain_host_wait(arg);
	return NULL;
}

TEST(a_host_that_ends_alone_does_so_with_its_last_member)
{
	struct sley_domain_host *host;
	struct member_guest guest[2];
	pthread_t waiter;

	stage_open();
	host = host_start_with(
		(struct sley_domain_host_options){ .ends_alone = 1 });
	waiter = test_thread(wait_for_end, host);
	guest_join(&guest[0]);
	guest_join(&guest[1]);
	guest_leave(&guest[0]);
	CHECK_EQ(nr_members(), 1);
	guest_leave(&guest[1]);
	CHECK_EQ(pthread_join(waiter, NULL), 0);
	CHECK_EQ(nr_members(), -ENOENT);
	sley_domain_host_destroy(host);
	stage_close();
}

TEST(a_host_ends_when_it_is_asked_to)
{
	struct sley_domain_host *host;
	struct member_guest guest;
	pthread_t waiter;

	stage_open();
	host = host_start();
	guest_join(&guest);
	waiter = test_thread(wait_for_end, host);
	sley_domain_host_stop(host);
	CHECK_EQ(pthread_join(waiter, NULL), 0);
	CHECK_EQ(guest_hear(guest.socket, &packet), 0);
	guest_leave(&guest);
	sley_domain_host_destroy(host);
	stage_close();
}
