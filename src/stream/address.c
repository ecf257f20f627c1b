/* SPDX-License-Identifier: MIT */
/*
 * address.c - <sley/address.h>: addresses from texts without names, and as texts.
 *
 *   text     =  "unix:" path  |  "unix:@" name  |  host ":" port
 *   host     =  ""  |  IPv4  |  "[" IPv6 "]"  |  a name
 *   port     =  a number up to 65535  |  a name
 *
 * A host without brackets has no colon, so an IPv6 address needs its brackets, and a
 * forgotten port is an error and no strange address.
 */
#include "stream/address.h"

#include "os/network.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#define UNIX_PREFIX "unix:"
#define UNIX_PATH offsetof(struct sockaddr_un, sun_path)

/* ---- texts ---------------------------------------------------------------------------- */

/* @size bytes of @from, as a text in @to, which has room for @max bytes more than 0. */
static int copy_part(char *to, size_t max, const char *from, size_t size)
{
	if (size > max)
		return -ENAMETOOLONG;
	memcpy(to, from, size);
	to[size] = '\0';
	return 0;
}

int address_split(struct address_parts *parts, const char *text)
{
	const char *host = text, *colon;
	size_t host_size;
	int err;

	if (*text == '[') {
		const char *bracket = strchr(text, ']');

		if (!bracket || bracket == text + 1 || bracket[1] != ':')
			return -EINVAL;
		host++;
		host_size = (size_t)(bracket - host);
		colon = bracket + 1;
	} else {
		colon = strchr(text, ':');
		if (!colon || strchr(colon + 1, ':'))
			return -EINVAL;
		host_size = (size_t)(colon - host);
	}
	if (!colon[1])
		return -EINVAL;
	err = copy_part(parts->host, ADDRESS_HOST_MAX, host, host_size);
	if (err)
		return err;
	return copy_part(parts->port, ADDRESS_PORT_MAX, colon + 1,
			 strlen(colon + 1));
}

/* A number below 65536; -ENOENT: a name. */
static int parse_port(const char *text)
{
	int port = 0;

	for (; *text >= '0' && *text <= '9'; text++) {
		port = port * 10 + (*text - '0');
		if (port > UINT16_MAX)
			return -ERANGE;
	}
	return *text ? -ENOENT : port;
}

static int parse_unix(struct sley_address *address, const char *path)
{
	struct sockaddr_un *to = (struct sockaddr_un *)&address->storage;
	size_t size = strlen(path);

	if (!size || (size == 1 && *path == '@'))
		return -EINVAL;
	/* The kernel wants a 0 behind a path, and none behind a name. */
	if (size + (*path != '@') > sizeof(to->sun_path))
		return -ENAMETOOLONG;
	to->sun_family = AF_UNIX;
	memcpy(to->sun_path, path, size);
	if (*path == '@')
		to->sun_path[0] = '\0';
	else
		size++;
	address->length = (socklen_t)(UNIX_PATH + size);
	return 0;
}

static void set_in6(struct sley_address *address, const struct in6_addr *host,
		    int port)
{
	struct sockaddr_in6 *to = (struct sockaddr_in6 *)&address->storage;

	to->sin6_family = AF_INET6;
	to->sin6_port = htons((uint16_t)port);
	to->sin6_addr = *host;
	address->length = sizeof(*to);
}

static void set_in(struct sley_address *address, const struct in_addr *host,
		   int port)
{
	struct sockaddr_in *to = (struct sockaddr_in *)&address->storage;

	to->sin_family = AF_INET;
	to->sin_port = htons((uint16_t)port);
	to->sin_addr = *host;
	address->length = sizeof(*to);
}

int sley_address_parse(struct sley_address *address, const char *text)
{
	struct address_parts parts;
	struct in6_addr in6 = IN6ADDR_ANY_INIT;
	struct in_addr in;
	int err, port;

	*address = (struct sley_address){ .length = 0 };
	if (!strncmp(text, UNIX_PREFIX, strlen(UNIX_PREFIX)))
		return parse_unix(address, text + strlen(UNIX_PREFIX));
	err = address_split(&parts, text);
	if (err)
		return err;
	port = parse_port(parts.port);
	if (port < 0)
		return port;
	if (!parts.host[0] || inet_pton(AF_INET6, parts.host, &in6) == 1)
		set_in6(address, &in6, port);
	else if (*text != '[' && inet_pton(AF_INET, parts.host, &in) == 1)
		set_in(address, &in, port);
	else
		/* A zone ("%eth0") is a name, too. */
		return *text != '[' || strchr(parts.host, '%') ? -ENOENT
							       : -EINVAL;
	return 0;
}

/* ---- back to texts -------------------------------------------------------------------- */

static int text_of_unix(const struct sley_address *address, char *text,
			size_t size)
{
	const struct sockaddr_un *from =
		(const struct sockaddr_un *)&address->storage;
	size_t room = address->length > UNIX_PATH ? address->length - UNIX_PATH
						  : 0;
	bool abstract = room && !from->sun_path[0];
	size_t length = abstract ? room - 1 : strnlen(from->sun_path, room);

	return snprintf(text, size, UNIX_PREFIX "%s%.*s", abstract ? "@" : "",
			(int)length, from->sun_path + abstract);
}

int sley_address_text(const struct sley_address *address, char *text,
		      size_t size)
{
	const struct sockaddr_in *in =
		(const struct sockaddr_in *)&address->storage;
	const struct sockaddr_in6 *in6 =
		(const struct sockaddr_in6 *)&address->storage;
	char host[INET6_ADDRSTRLEN];
	int length;

	switch (address->length ? address->storage.family : AF_UNSPEC) {
	case AF_INET:
		(void)!inet_ntop(AF_INET, &in->sin_addr, host, sizeof(host));
		length = snprintf(text, size, "%s:%u", host,
				  ntohs(in->sin_port));
		break;
	case AF_INET6:
		(void)!inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof(host));
		length = snprintf(text, size, "[%s]:%u", host,
				  ntohs(in6->sin6_port));
		break;
	case AF_UNIX:
		length = text_of_unix(address, text, size);
		break;
	default:
		return -EAFNOSUPPORT;
	}
	return (size_t)length < size ? length : -ENOSPC;
}

static int name_of(struct sley_address *address, int fd, bool peer)
{
	*address = (struct sley_address){ .length = sizeof(address->storage) };
	return os_socket_name(fd, peer, (struct sockaddr *)&address->storage,
			      &address->length);
}

int sley_address_of(struct sley_address *address, int fd)
{
	return name_of(address, fd, false);
}

int sley_address_of_peer(struct sley_address *address, int fd)
{
	return name_of(address, fd, true);
}
