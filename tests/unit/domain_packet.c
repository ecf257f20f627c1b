/* SPDX-License-Identifier: MIT */
/*
 * domain_packet.c - packets of a domain: their bytes, and what is refused.
 */
#include "harness/test.h"

#include "domain/packet.h"

#include <errno.h>
#include <string.h>

static struct domain_packet packet;

static const struct domain_person person = {
	.index = 63,
	.nr_workers = 4,
	.generation = 0x0102030405060708,
	.pid = 77,
	.uid = 1000,
	.name = "frames",
};

static int from_guest(uint32_t nr_fds)
{
	return domain_packet_check(&packet, DOMAIN_OF_GUEST, nr_fds);
}

static int from_host(uint32_t nr_fds)
{
	return domain_packet_check(&packet, DOMAIN_OF_HOST, nr_fds);
}

/* The bytes that another build of the library, on another processor, must understand. */
TEST(a_hello_of_a_domain_has_the_same_bytes_everywhere)
{
	static const unsigned char head[] = {
		's', 'd', 'o', 'm', 1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0,   0,   0,
		0,   0,   0,   8,   0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,   0,   0,
		0,   0,   0,   0,   0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 'a', 'b', 0,
	};

	domain_packet_hello(&packet, "ab", 8);
	CHECK_EQ(memcmp(&packet, head, sizeof(head)), 0);
}

TEST(what_a_host_says_has_the_same_bytes_everywhere)
{
	const unsigned char *bytes = (const unsigned char *)&packet;

	domain_packet_peer(&packet, &person);
	CHECK_EQ(bytes[8], 5);
	CHECK_EQ(bytes[16], 63);
	CHECK_EQ(bytes[20], 4);
	CHECK_EQ(bytes[32], 8);
	CHECK_EQ(bytes[39], 1);
	CHECK_EQ(bytes[40], 77);
	CHECK_EQ(bytes[44], 0xe8);
	CHECK_STR((const char *)bytes + 48, "frames");
	domain_packet_welcome(&packet, 3, 9, 16, true);
	CHECK_EQ(bytes[8], 3);
	CHECK_EQ(bytes[12], 1);
	CHECK_EQ(bytes[16], 3);
	CHECK_EQ(bytes[24], 16);
	CHECK_EQ(bytes[32], 9);
	domain_packet_refused(&packet, -2, "no %s", "way");
	CHECK_EQ(bytes[8], 4);
	CHECK_EQ(bytes[28], 0xfe);
	CHECK_STR((const char *)bytes + 48, "no way");
	domain_packet_gone(&packet, 3, 9);
	CHECK_EQ(bytes[8], 6);
	CHECK_EQ(bytes[16], 3);
	CHECK_EQ(bytes[32], 9);
	domain_packet_listed(&packet, 2, 16);
	CHECK_EQ(bytes[8], 7);
	CHECK_EQ(bytes[20], 2);
	CHECK_EQ(bytes[24], 16);
}

TEST(a_guest_and_a_host_send_their_own_packets_only)
{
	domain_packet_hello(&packet, "x", 1);
	CHECK_EQ(from_guest(1), 0);
	CHECK_EQ(from_host(1), -EPROTO);
	domain_packet_list(&packet);
	CHECK_EQ(from_guest(0), 0);
	CHECK_EQ(from_host(0), -EPROTO);
	domain_packet_welcome(&packet, 0, 1, 1, false);
	CHECK_EQ(from_host(1), 0);
	CHECK_EQ(from_guest(1), -EPROTO);
	domain_packet_refused(&packet, -EACCES, "no");
	CHECK_EQ(from_host(0), 0);
	CHECK_EQ(from_guest(0), -EPROTO);
	domain_packet_peer(&packet, &person);
	CHECK_EQ(from_host(1), 0);
	CHECK_EQ(from_guest(1), -EPROTO);
	domain_packet_gone(&packet, 0, 1);
	CHECK_EQ(from_host(0), 0);
	CHECK_EQ(from_guest(0), -EPROTO);
	domain_packet_listed(&packet, 0, 1);
	CHECK_EQ(from_host(1), 0);
	CHECK_EQ(from_guest(1), -EPROTO);
	packet.kind = 0;
	CHECK_EQ(from_host(0), -EPROTO);
	CHECK_EQ(from_guest(0), -EPROTO);
	packet.kind = 8;
	CHECK_EQ(from_host(0), -EPROTO);
}

TEST(a_page_comes_with_the_packets_that_bring_one_and_no_other)
{
	domain_packet_hello(&packet, "x", 1);
	CHECK_EQ(from_guest(0), -EPROTO);
	CHECK_EQ(from_guest(2), -EPROTO);
	domain_packet_list(&packet);
	CHECK_EQ(from_guest(1), -EPROTO);
	domain_packet_welcome(&packet, 0, 1, 1, false);
	CHECK_EQ(from_host(0), -EPROTO);
	CHECK_EQ(from_host(2), -EPROTO);
	domain_packet_peer(&packet, &person);
	CHECK_EQ(from_host(0), -EPROTO);
	CHECK_EQ(from_host(1), 0);
	CHECK_EQ(from_host(2), 0); /* with a line */
	CHECK_EQ(from_host(3), -EPROTO);
	domain_packet_gone(&packet, 0, 1);
	CHECK_EQ(from_host(1), -EPROTO);
	domain_packet_refused(&packet, -EACCES, "no");
	CHECK_EQ(from_host(1), -EPROTO);
	domain_packet_listed(&packet, 0, 1);
	CHECK_EQ(from_host(0), -EPROTO);
	CHECK_EQ(from_host(2), -EPROTO);
}

TEST(a_packet_of_another_magic_number_is_none)
{
	domain_packet_hello(&packet, "x", 1);
	packet.magic++;
	CHECK_EQ(from_guest(1), -EPROTO);
}

TEST(another_major_version_of_a_domain_is_told_from_nonsense)
{
	char text[DOMAIN_TEXT];

	domain_packet_hello(&packet, "x", 1);
	packet.major = 7;
	packet.minor = 5;
	packet.kind = 99;
	CHECK_EQ(from_guest(3), -EPROTONOSUPPORT);
	domain_packet_explain_version(text, &packet);
	CHECK(strstr(text, "7.5"));
	CHECK(strstr(text, "1.1"));
}

TEST(a_later_minor_version_of_a_domain_is_welcome)
{
	domain_packet_hello(&packet, "x", 1);
	packet.minor = 9;
	CHECK_EQ(from_guest(1), 0);
}

TEST(a_member_has_at_least_one_worker_and_at_most_so_many)
{
	domain_packet_hello(&packet, "x", 0);
	CHECK_EQ(from_guest(1), -EPROTO);
	domain_packet_hello(&packet, "x", SLEY_WORKERS_MAX);
	CHECK_EQ(from_guest(1), 0);
	domain_packet_hello(&packet, "x", SLEY_WORKERS_MAX + 1);
	CHECK_EQ(from_guest(1), -EPROTO);
	domain_packet_peer(&packet, &person);
	packet.nr = 0;
	CHECK_EQ(from_host(1), -EPROTO);
}

TEST(a_seat_is_below_their_number)
{
	domain_packet_welcome(&packet, DOMAIN_MEMBERS_MAX, 1, 1, false);
	CHECK_EQ(from_host(1), -EPROTO);
	domain_packet_peer(&packet, &person);
	packet.index = DOMAIN_MEMBERS_MAX;
	CHECK_EQ(from_host(1), -EPROTO);
	domain_packet_gone(&packet, DOMAIN_MEMBERS_MAX, 1);
	CHECK_EQ(from_host(0), -EPROTO);
}

TEST(a_generation_is_not_zero)
{
	domain_packet_welcome(&packet, 0, 0, 1, false);
	CHECK_EQ(from_host(1), -EPROTO);
	domain_packet_peer(&packet, &person);
	packet.generation = 0;
	CHECK_EQ(from_host(1), -EPROTO);
	domain_packet_gone(&packet, 0, 0);
	CHECK_EQ(from_host(0), -EPROTO);
}

TEST(a_domain_has_at_least_one_core_and_at_most_so_many)
{
	domain_packet_welcome(&packet, 0, 1, 0, false);
	CHECK_EQ(from_host(1), -EPROTO);
	domain_packet_welcome(&packet, 0, 1, DOMAIN_CORES_MAX, false);
	CHECK_EQ(from_host(1), 0);
	domain_packet_welcome(&packet, 0, 1, DOMAIN_CORES_MAX + 1, false);
	CHECK_EQ(from_host(1), -EPROTO);
	domain_packet_listed(&packet, 1, DOMAIN_CORES_MAX + 1);
	CHECK_EQ(from_host(1), -EPROTO);
	domain_packet_listed(&packet, 1, 0);
	CHECK_EQ(from_host(1), -EPROTO);
}

TEST(a_list_has_no_more_members_than_there_may_be)
{
	domain_packet_listed(&packet, DOMAIN_MEMBERS_MAX, 1);
	CHECK_EQ(from_host(1), 0);
	domain_packet_listed(&packet, DOMAIN_MEMBERS_MAX + 1, 1);
	CHECK_EQ(from_host(1), -EPROTO);
}

TEST(a_welcome_with_an_unknown_flag_is_refused)
{
	domain_packet_welcome(&packet, 0, 1, 1, true);
	CHECK_EQ(from_host(1), 0);
	packet.flags |= 2;
	CHECK_EQ(from_host(1), -EPROTO);
}

TEST(a_process_has_no_negative_number)
{
	domain_packet_peer(&packet, &person);
	packet.pid = 0;
	CHECK_EQ(from_host(1), 0);
	packet.pid = -1;
	CHECK_EQ(from_host(1), -EPROTO);
}

TEST(a_refusal_without_a_failure_is_none)
{
	domain_packet_refused(&packet, 0, "fine");
	CHECK_EQ(from_host(0), -EPROTO);
	domain_packet_refused(&packet, 5, "fine");
	CHECK_EQ(from_host(0), -EPROTO);
}

TEST(the_name_of_a_program_is_cut_and_cannot_write_lines_of_a_log)
{
	domain_packet_hello(&packet, "a\nb\x1b[2J\xff", 1);
	CHECK_EQ(from_guest(1), 0);
	CHECK_STR(packet.text, "a?b?[2J?");
	memset(packet.text, 'a', sizeof(packet.text));
	CHECK_EQ(from_guest(1), 0);
	CHECK_EQ(strlen(packet.text), DOMAIN_TEXT - 1);
	packet.text[1] = 0;
	CHECK_EQ(from_guest(1), 0);
	CHECK_EQ(packet.text[2], 0);
}

TEST(a_member_is_described_as_it_was)
{
	struct domain_person read;

	domain_packet_peer(&packet, &person);
	CHECK_EQ(from_host(1), 0);
	domain_packet_read(&packet, &read);
	CHECK_EQ(memcmp(&read, &person, sizeof(read)), 0);
}
