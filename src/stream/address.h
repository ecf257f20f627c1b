/* SPDX-License-Identifier: MIT */
/*
 * address.h - the text of an address, in its parts.
 */
#ifndef SLEY_STREAM_ADDRESS_H
#define SLEY_STREAM_ADDRESS_H

#include "base/compiler.h"

#include <sley/address.h>

#define ADDRESS_HOST_MAX 255 /* of DNS */
#define ADDRESS_PORT_MAX 31

struct address_parts {
	char host[ADDRESS_HOST_MAX + 1]; /* "": all interfaces */
	char port[ADDRESS_PORT_MAX + 1];
};

/* Of a text that does not begin with "unix:".  Errors as sley_address_parse(). */
must_check int address_split(struct address_parts *parts, const char *text);

static inline const struct sockaddr *
address_sockaddr(const struct sley_address *address)
{
	return (const struct sockaddr *)&address->storage;
}

#endif
