/* SPDX-License-Identifier: MIT */
/*
 * stream_address.c - texts of addresses, good and bad.
 */
#include <errno.h>
#include <netinet/in.h>
#include <sley/address.h>
#include <string.h>
#include <sys/un.h>

#include "harness/test.h"

/* @text gives an address that @again stands for. */
static void check_good(const char *text, int family, const char *again)
{
	struct sley_address address;
	char found[SLEY_ADDRESS_TEXT];

	CHECK_EQ(sley_address_parse(&address, text), 0);
	CHECK_EQ(address.storage.family, family);
	CHECK_EQ(sley_address_text(&address, found, sizeof(found)),
		 (int)strlen(again));
	CHECK_STR(found, again);
}

static int parse(const char *text)
{
	struct sley_address address;

	return sley_address_parse(&address, text);
}

TEST(good_texts_are_read_and_written)
{
	check_good("127.0.0.1:80", AF_INET, "127.0.0.1:80");
	check_good("0.0.0.0:0", AF_INET, "0.0.0.0:0");
	check_good("255.255.255.255:65535", AF_INET, "255.255.255.255:65535");
	check_good("1.2.3.4:00080", AF_INET, "1.2.3.4:80");
	check_good("[::1]:8080", AF_INET6, "[::1]:8080");
	check_good("[2001:DB8::0:1]:1", AF_INET6, "[2001:db8::1]:1");
	check_good("[::ffff:1.2.3.4]:5", AF_INET6, "[::ffff:1.2.3.4]:5");
	check_good(":8080", AF_INET6, "[::]:8080");
	check_good("unix:/run/x", AF_UNIX, "unix:/run/x");
	check_good("unix:x", AF_UNIX, "unix:x");
	check_good("unix:@x", AF_UNIX, "unix:@x");
	check_good("unix:/with:colon", AF_UNIX, "unix:/with:colon");
}

TEST(bad_texts_are_refused_each_with_its_error)
{
	static const char *const malformed[] = {
		"",         ":",           "127.0.0.1", "127.0.0.1:",
		"::1",      "::1:80",      "[::1]",     "[::1]80",
		"[::1:80",  "[]:80",       "[::1]:",    "[127.0.0.1]:80",
		"[host]:1", "[::1]x:80",   "unix:",     "unix:@",
		"a:b:c",    "1.2.3.4:5:6", "[:::]:1",
	};

	for (size_t i = 0; i < sizeof(malformed) / sizeof(*malformed); i++)
		CHECK_EQ(parse(malformed[i]), -EINVAL);
	CHECK_EQ(parse("127.0.0.1:65536"), -ERANGE);
	CHECK_EQ(parse("127.0.0.1:99999999999999999999"), -ERANGE);
	CHECK_EQ(parse("host:80"), -ENOENT);
	CHECK_EQ(parse("1.2.3:80"), -ENOENT);
	CHECK_EQ(parse("1.2.3.256:80"), -ENOENT);
	CHECK_EQ(parse("127.0.0.1:http"), -ENOENT);
	CHECK_EQ(parse("127.0.0.1:8x"), -ENOENT);
	CHECK_EQ(parse("127.0.0.1:-1"), -ENOENT);
	CHECK_EQ(parse("127.0.0.1: 80"), -ENOENT);
	CHECK_EQ(parse("[fe80::1%eth0]:80"), -ENOENT);
}

static void make_text(char *text, const char *prefix, size_t size,
		      const char *suffix)
{
	size_t length = strlen(prefix);

	memcpy(text, prefix, length);
	memset(text + length, 'x', size);
	memcpy(text + length + size, suffix, strlen(suffix) + 1);
}

TEST(texts_have_a_longest)
{
	const size_t path = sizeof(((struct sockaddr_un *)0)->sun_path);
	struct sley_address address;
	char text[512], found[SLEY_ADDRESS_TEXT];

	make_text(text, "", 255, ":80");
	CHECK_EQ(parse(text), -ENOENT);
	make_text(text, "", 256, ":80");
	CHECK_EQ(parse(text), -ENAMETOOLONG);
	make_text(text, "host:", 31, "");
	CHECK_EQ(parse(text), -ENOENT);
	make_text(text, "host:", 32, "");
	CHECK_EQ(parse(text), -ENAMETOOLONG);
	/* A path has a 0 at its end, an abstract name one at its beginning. */
	make_text(text, "unix:", path - 1, "");
	CHECK_EQ(sley_address_parse(&address, text), 0);
	CHECK_EQ(sley_address_text(&address, found, sizeof(found)),
		 (int)(path + 4));
	CHECK_STR(found, text);
	make_text(text, "unix:", path, "");
	CHECK_EQ(parse(text), -ENAMETOOLONG);
	make_text(text, "unix:@", path - 1, "");
	CHECK_EQ(sley_address_parse(&address, text), 0);
	CHECK_EQ(sley_address_text(&address, found, sizeof(found)),
		 (int)(path + 5));
	CHECK_STR(found, text);
	make_text(text, "unix:@", path, "");
	CHECK_EQ(parse(text), -ENAMETOOLONG);
}

TEST(a_text_needs_room)
{
	struct sley_address address, none = { .length = 0 };
	char text[16];

	CHECK_EQ(sley_address_parse(&address, "1.2.3.4:56"), 0);
	CHECK_EQ(sley_address_text(&address, text, 10), -ENOSPC);
	CHECK_EQ(sley_address_text(&address, text, 11), 10);
	CHECK_EQ(sley_address_text(&none, text, sizeof(text)), -EAFNOSUPPORT);
	address.storage.family = AF_APPLETALK;
	CHECK_EQ(sley_address_text(&address, text, sizeof(text)),
		 -EAFNOSUPPORT);
}

TEST(a_number_that_is_no_socket_has_no_address)
{
	struct sley_address address;

	CHECK_EQ(sley_address_of(&address, -1), -EBADF);
	CHECK_EQ(sley_address_of_peer(&address, -1), -EBADF);
}
