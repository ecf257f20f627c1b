/* SPDX-License-Identifier: MIT */
/*
 * talk.c - see talk.h.
 */
#include "domain/talk.h"

#include "os/clock.h"
#include "os/eventfd.h"
#include "os/seqpacket.h"
#include "os/shared_memory.h"

#include <errno.h>

#define BUSY_NS 1000000u /* so many processes connect that there is no room */

/* ---- connecting ---------------------------------------------------------------------- */

static bool is_nobody(int err)
{
	return err == -ENOENT || err == -ENOTDIR || err == -ECONNREFUSED;
}

/* At the first place where somebody listens. */
static int connect_once(const struct domain_place *place)
{
	int result = -ECONNREFUSED;

	for (uint32_t i = 0; i < place->nr && is_nobody(result); i++)
		result = os_local_connect(place->path[i]);
	return is_nobody(result) ? -ECONNREFUSED : result;
}

int talk_connect(const struct domain_place *place, int cancel,
		 uint64_t deadline_ns)
{
	for (;;) {
		int result = connect_once(place);

		if (result != -EAGAIN)
			return result;
		if (os_now() >= deadline_ns)
			return -ETIMEDOUT;
		if (os_poll_two(cancel, -1, os_now() + BUSY_NS))
			return -ECANCELED;
	}
}

/* ---- packets ------------------------------------------------------------------------- */

int talk_send(int socket, const struct domain_packet *packet, int fd)
{
	int err = os_seqpacket_send(socket, packet, sizeof(*packet), &fd,
				    domain_packet_nr_fds(packet->kind));

	/* What a host said before it hung up is there to be received. */
	return err == -EPIPE ? 0 : err;
}

void talk_close(int *fds)
{
	for (uint32_t i = 0; i < DOMAIN_PACKET_FDS; i++) {
		os_close(fds[i]);
		fds[i] = -1;
	}
}

static uint32_t nr_of(const int *fds)
{
	uint32_t nr = 0;

	while (nr < DOMAIN_PACKET_FDS && fds[nr] >= 0)
		nr++;
	return nr;
}

int talk_receive_now(int socket, struct domain_packet *packet, int *fds)
{
	int result = os_seqpacket_recv(socket, packet, sizeof(*packet), fds,
				       DOMAIN_PACKET_FDS, false);
	int err;

	if (result != 1)
		return result ? result : -ECONNREFUSED;
	err = domain_packet_check(packet, DOMAIN_OF_HOST, nr_of(fds));
	if (!err)
		return 0;
	talk_close(fds);
	if (err == -EPROTONOSUPPORT)
		domain_packet_explain_version(packet->text, packet);
	return err;
}

int talk_receive(int socket, struct domain_packet *packet, int *fds, int cancel,
		 uint64_t deadline_ns)
{
	for (;;) {
		int err = talk_receive_now(socket, packet, fds);
		unsigned int ready;

		if (err != -EAGAIN)
			return err;
		ready = os_poll_two(socket, cancel, deadline_ns);
		if (ready & OS_POLL_SECOND)
			return -ECANCELED;
		if (!ready && os_now() >= deadline_ns)
			return -ETIMEDOUT;
	}
}

int talk_map(int fd, const void **page)
{
	int err = os_shared_page_check(fd, DOMAIN_PAGE_SIZE);

	if (!err) {
		*page = os_shared_memory_map_to_read(fd, DOMAIN_PAGE_SIZE);
		err = *page ? 0 : -ENOMEM;
	}
	os_close(fd);
	return err == -EPERM || err == -EINVAL ? -EPROTO : err;
}
