/* SPDX-License-Identifier: MIT */
/*
 * ipc_packet.c - packets of the handshake: their bytes, and what is refused.
 */
#include "harness/test.h"

#include "ipc/packet.h"

#include <errno.h>
#include <string.h>

static struct wire_packet packet;

static int from_client(uint32_t nr_fds)
{
	return packet_check(&packet, PACKET_FROM_CLIENT, nr_fds, false);
}

static int from_daemon(uint32_t nr_fds)
{
	return packet_check(&packet, PACKET_FROM_DAEMON, nr_fds, false);
}

/* The bytes that another build of the library, on another processor, must understand. */
TEST(a_hello_has_the_same_bytes_everywhere)
{
	static const unsigned char head[] = {
		's', 'l', 'y', 'd', 1, 0, 0, 0, 1, 0, 0, 0, 1, 0,   0,   0, 0,
		1,   0,   0,   0,   4, 0, 0, 0, 0, 0, 0, 0, 0, 0,   0,   0, 0,
		0,   0,   0,   0,   0, 0, 0, 0, 0, 0, 0, 0, 0, 0,   0,   0, 0,
		0,   0,   0,   0,   0, 0, 0, 0, 0, 0, 0, 0, 0, 'a', 'b', 0,
	};
	struct wire_packet hello;

	packet_hello(&hello, "ab", 256, 1024, true);
	CHECK_EQ(memcmp(&hello, head, sizeof(head)), 0);
}

TEST(a_welcome_has_the_same_bytes_everywhere)
{
	const struct packet_offer offer = { .session = 0x0102030405060708,
					    .generation = 0x11,
					    .segment_bytes = 0x22,
					    .depth = 4,
					    .slot_size = 64 };
	const unsigned char *bytes = (const unsigned char *)&packet;

	packet_welcome(&packet, &offer);
	CHECK_EQ(bytes[8], WIRE_WELCOME);
	CHECK_EQ(bytes[16], 4);
	CHECK_EQ(bytes[20], 64);
	CHECK_EQ(bytes[32], 8);
	CHECK_EQ(bytes[39], 1);
	CHECK_EQ(bytes[40], 0x11);
	CHECK_EQ(bytes[48], 0x22);
	CHECK_EQ(bytes[56], 0);
}

TEST(a_reason_has_the_same_bytes_everywhere)
{
	const unsigned char *bytes = (const unsigned char *)&packet;

	packet_refused(&packet, -2, "no %s", "way");
	CHECK_EQ(bytes[8], WIRE_REFUSED);
	CHECK_EQ(bytes[28], 0xfe);
	CHECK_EQ(bytes[31], 0xff);
	CHECK_STR((const char *)bytes + 64, "no way");
	packet_segment(&packet, 7, 4096);
	CHECK_EQ(bytes[8], WIRE_SEGMENT);
	CHECK_EQ(bytes[49], 16);
	CHECK_EQ(bytes[56], 7);
	packet_ready(&packet, 5);
	CHECK_EQ(bytes[24], 5);
}

TEST(heads_and_answers_have_the_same_places_everywhere)
{
	uint64_t value = wire_answer(-5, 3);

	CHECK_EQ(value, 0x3fffffffbull);
	CHECK_EQ(wire_answer_code(value), -5);
	CHECK_EQ(wire_answer_size(value), 3);
	CHECK_EQ(offsetof(struct wire_head, method), 4);
	CHECK_EQ(offsetof(struct wire_head, query_count), 24);
	CHECK_EQ(offsetof(struct wire_head, group), 40);
	CHECK_EQ(offsetof(struct wire_head, out_room), 52);
	CHECK_EQ(offsetof(struct wire_head, flags), 58);
	CHECK_EQ(offsetof(struct wire_open, module), 64);
	CHECK_EQ(offsetof(struct wire_open, containers), 128);
	CHECK_EQ(offsetof(struct wire_open, limit_ns), 144);
	CHECK_EQ(offsetof(struct wire_page, version), 40);
}

TEST(each_side_sends_its_own_packets_only)
{
	const struct packet_offer offer = { .session = 1 };

	packet_hello(&packet, "x", 0, 0, false);
	CHECK_EQ(from_client(0), 0);
	CHECK_EQ(from_daemon(0), -EPROTO);
	packet_ready(&packet, 1);
	CHECK_EQ(from_client(0), 0);
	CHECK_EQ(from_daemon(0), -EPROTO);
	packet_welcome(&packet, &offer);
	CHECK_EQ(from_daemon(4), 0);
	CHECK_EQ(from_client(4), -EPROTO);
	packet_goodbye(&packet, -EPROTO, "you wrote nonsense");
	CHECK_EQ(from_daemon(0), 0);
	CHECK_EQ(from_client(0), -EPROTO);
	packet.kind = 0;
	CHECK_EQ(from_daemon(0), -EPROTO);
	packet.kind = 7;
	CHECK_EQ(from_daemon(0), -EPROTO);
}

TEST(descriptors_that_are_not_due_are_refused)
{
	const struct packet_offer offer = { .session = 1 };

	packet_hello(&packet, "x", 0, 0, false);
	CHECK_EQ(from_client(1), -EPROTO);
	packet_hello(&packet, "x", 0, 0, true);
	CHECK_EQ(from_client(1), 0);
	CHECK_EQ(from_client(0), -EPROTO);
	packet_segment(&packet, 1, 4096);
	CHECK_EQ(from_daemon(1), 0);
	CHECK_EQ(from_daemon(0), -EPROTO);
	packet_welcome(&packet, &offer);
	CHECK_EQ(from_daemon(3), -EPROTO);
	CHECK_EQ(packet_check(&packet, PACKET_FROM_DAEMON, 3, true), 0);
	CHECK_EQ(packet_check(&packet, PACKET_FROM_DAEMON, 4, true), -EPROTO);
}

TEST(another_magic_number_is_no_packet)
{
	packet_hello(&packet, "x", 0, 0, false);
	packet.magic++;
	CHECK_EQ(from_client(0), -EPROTO);
}

TEST(another_major_version_is_told_from_nonsense)
{
	packet_hello(&packet, "x", 0, 0, false);
	packet.major = 2;
	packet.minor = 5;
	packet.kind = 99;
	CHECK_EQ(from_client(3), -EPROTONOSUPPORT);
	packet_refuse_version(&packet, &packet);
	CHECK_EQ(packet.code, -EPROTONOSUPPORT);
	CHECK_EQ(packet.major, WIRE_MAJOR);
}

TEST(a_refused_version_is_named_beside_ours)
{
	struct wire_packet theirs;

	packet_hello(&theirs, "x", 0, 0, false);
	theirs.major = 2;
	theirs.minor = 5;
	packet_refuse_version(&packet, &theirs);
	CHECK(strstr(packet.text, "2.5"));
	CHECK(strstr(packet.text, "1.0"));
}

TEST(the_smaller_minor_version_counts)
{
	packet_hello(&packet, "x", 0, 0, false);
	packet.minor = 9;
	CHECK_EQ(from_client(0), 0);
	CHECK_EQ(packet_minor(&packet), WIRE_MINOR);
}

TEST(a_text_without_an_end_is_cut)
{
	packet_hello(&packet, "", 0, 0, false);
	memset(packet.text, 'a', sizeof(packet.text));
	CHECK_EQ(from_client(0), 0);
	CHECK_EQ(strlen(packet.text), WIRE_TEXT - 1);
}

TEST(a_text_cannot_write_lines_of_a_log)
{
	packet_hello(&packet, "a\nb\x1b[2J\xff", 0, 0, false);
	CHECK_EQ(from_client(0), 0);
	CHECK_STR(packet.text, "a?b?[2J?");
}

TEST(bytes_behind_the_end_of_a_text_are_gone)
{
	packet_hello(&packet, "a", 0, 0, false);
	packet.text[2] = 'z';
	CHECK_EQ(from_client(0), 0);
	CHECK_EQ(packet.text[2], 0);
}

TEST(a_long_name_is_cut)
{
	char name[400];

	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = 0;
	packet_hello(&packet, name, 0, 0, false);
	CHECK_EQ(strlen(packet.text), WIRE_TEXT - 1);
}

TEST(a_life_begins_at_1)
{
	packet_ready(&packet, 0);
	CHECK_EQ(from_client(0), -EPROTO);
}

TEST(an_end_without_a_failure_is_refused)
{
	packet_refused(&packet, 0, "fine");
	CHECK_EQ(from_daemon(0), -EPROTO);
	packet_goodbye(&packet, 5, "fine");
	CHECK_EQ(from_daemon(0), -EPROTO);
}
