/* SPDX-License-Identifier: MIT */
/*
 * host_guest.c - guests of a host come, say why, and go.  See host.h.
 */
#include "domain/host.h"

#include "core/trace/report.h"
#include "os/clock.h"
#include "os/eventfd.h"
#include "os/map.h"
#include "os/seqpacket.h"
#include "os/shared_memory.h"
#include "os/socket.h"

#include <errno.h>
#include <poll.h>
#include <sley/error.h>
#include <sley/version.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ACCEPTS_AT_ONCE 16
#define HELLO_NS 5000000000ull /* for the first packet of a guest          */
#define SAY_NS 100000000ull    /* between two lines of the log            */

/* ---- the log ------------------------------------------------------------------------- */

void host_say(struct sley_domain_host *host, const char *format, ...)
{
	uint64_t now = os_now();
	char text[2 * DOMAIN_TEXT];
	va_list args;

	if (now < host->say_again_ns)
		return;
	host->say_again_ns = now + SAY_NS;
	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	report_early(&host->says, "the host of the domain '%s' %s",
		     host->place.name, text);
}

/* ---- the end of a guest -------------------------------------------------------------- */

/*
 * A guest that does not listen goes later: others are being told still.  A guest that has
 * hung up is heard to have done so.
 */
static void tell_with(struct guest *guest, const struct domain_packet *packet,
		      const int *fds, uint32_t nr_fds)
{
	int err = 0;

	if (!guest->deaf)
		err = os_seqpacket_send(guest->socket, packet, sizeof(*packet),
					fds, nr_fds);
	if (err && err != -EPIPE)
		guest->deaf = err;
}

static void tell(struct guest *guest, const struct domain_packet *packet,
		 int fd)
{
	tell_with(guest, packet, &fd, domain_packet_nr_fds(packet->kind));
}

static void tell_others(struct sley_domain_host *host,
			const struct guest *guest,
			const struct domain_packet *packet)
{
	for (uint32_t i = 0; i < DOMAIN_MEMBERS_MAX; i++) {
		if (host->member[i] && host->member[i] != guest)
			tell(host->member[i], packet, -1);
	}
}

static void leave_seat(struct sley_domain_host *host, struct guest *guest)
{
	struct domain_packet packet;

	host_leave(host, guest);
	host->member[guest->seat] = NULL;
	host->nr_members--;
	domain_packet_gone(&packet, guest->seat, guest->person.generation);
	tell_others(host, guest, &packet);
	guest->seat = HOST_NO_SEAT;
	os_unmap((void *)(uintptr_t)guest->page, DOMAIN_PAGE_SIZE);
	os_close(guest->page_fd);
}

static void refuse(struct sley_domain_host *host, int socket,
		   const struct os_peer *peer, int code, const char *reason)
{
	struct domain_packet packet;

	domain_packet_refused(&packet, code, "%s", reason);
	/* A process that does not read the refusal sees the end. */
	(void)!os_seqpacket_send(socket, &packet, sizeof(packet), NULL, 0);
	host_say(host, "sent pid %d of uid %u away: %s (%s)", peer->pid,
		 peer->uid, reason, sley_strerror(code));
}

void host_end_guest(struct sley_domain_host *host, struct guest *guest,
		    int code, const char *reason)
{
	/* First: a member that hears of its end restores what is lowered still. */
	if (guest->seat != HOST_NO_SEAT)
		host_raise(host, guest);
	if (reason)
		refuse(host, guest->socket, &guest->peer, code, reason);
	os_epoll_remove(host->epoll, guest->socket);
	if (guest->pidfd >= 0)
		os_epoll_remove(host->epoll, guest->pidfd);
	os_close(guest->pidfd);
	os_seqpacket_hang_up(guest->socket);
	guest->socket = -1;
	if (guest->seat != HOST_NO_SEAT)
		leave_seat(host, guest);
}

void host_end_deaf(struct sley_domain_host *host)
{
	for (uint32_t i = 0; i < HOST_GUESTS; i++) {
		struct guest *guest = &host->guest[i];

		if (guest->socket < 0 || !guest->deaf)
			continue;
		host_end_guest(host, guest, guest->deaf,
			       guest->deaf == -EAGAIN
				       ? "it does not read what it is told"
				       : "it could not be told of others");
		/* Members that heard of the end may be deaf now. */
		i = UINT32_MAX;
	}
}

/* ---- members ------------------------------------------------------------------------- */

/* A seat is free when the ledger has forgotten the member that had it. */
static uint32_t free_seat(const struct sley_domain_host *host)
{
	const struct ledger *ledger = &host->broker.ledger;

	for (uint32_t i = 0; i < DOMAIN_MEMBERS_MAX; i++) {
		if (!host->member[i] && !(ledger->leaving >> i & 1))
			return i;
	}
	return HOST_NO_SEAT;
}

/* Of a page that another process has made. */
static int map_page(struct guest *guest, int fd)
{
	const struct member_page foreign *page;
	int err = os_shared_page_check(fd, DOMAIN_PAGE_SIZE);

	if (err)
		return err;
	page = os_shared_memory_map_to_read(fd, DOMAIN_PAGE_SIZE);
	if (!page)
		return -ENOMEM;
	if (!member_page_is_sound(page)) {
		os_unmap((void *)(uintptr_t)page, DOMAIN_PAGE_SIZE);
		return -EBADMSG;
	}
	guest->page = page;
	return 0;
}

static const char *why_no_page(int err)
{
	switch (err) {
	case -EPERM:
		return "its page is not sealed: others could write to it, or "
		       "cut it off";
	case -EINVAL:
		return "its page has another size than a page of a domain";
	case -EBADMSG:
		return "its page is none of a domain";
	default:
		return "there is no memory for its page";
	}
}

/*
 * Without a line the two share the cores all the same, and only cannot wake tasks of each
 * other.
 */
static void make_line(struct sley_domain_host *host, const struct guest *one,
		      const struct guest *other, int *line)
{
	int err = 0;

	line[0] = line[1] = -1;
	if (one->has_lines && other->has_lines)
		err = os_seqpacket_pair(line);
	if (err)
		host_say(host,
			 "cannot make a line between pid %d and pid %d, which "
			 "cannot wake tasks of each other: %s",
			 one->peer.pid, other->peer.pid, sley_strerror(err));
}

/* @line is @guest's end of the line to @other, or -1. */
static void tell_of(struct guest *guest, const struct guest *other, int line)
{
	const int fds[DOMAIN_PACKET_FDS] = { other->page_fd, line };
	struct domain_packet packet;

	domain_packet_peer(&packet, &other->person);
	tell_with(guest, &packet, fds, line < 0 ? 1 : 2);
}

static void introduce(struct sley_domain_host *host, struct guest *guest)
{
	for (uint32_t i = 0; i < DOMAIN_MEMBERS_MAX; i++) {
		struct guest *other = host->member[i];
		int line[2];

		if (!other || other == guest)
			continue;
		make_line(host, guest, other, line);
		tell_of(other, guest, line[0]);
		tell_of(guest, other, line[1]);
		os_close(line[0]);
		os_close(line[1]);
	}
}

static void take_seat(struct sley_domain_host *host, struct guest *guest,
		      const struct domain_packet *hello)
{
	struct domain_packet packet;

	guest->seat = free_seat(host);
	guest->person = (struct domain_person){
		.index = guest->seat,
		.nr_workers = hello->nr,
		.generation = ++host->generation,
		.pid = guest->peer.pid,
		.uid = guest->peer.uid,
	};
	memcpy(guest->person.name, hello->text, sizeof(hello->text));
	guest->has_lines = hello->minor >= DOMAIN_MINOR_LINES;
	host->member[guest->seat] = guest;
	host->nr_members++;
	host->had_member = true;
	host_join(host, guest);
	domain_packet_welcome(&packet, guest->seat, guest->person.generation,
			      host->options.nr_cores,
			      !host->options.ends_alone);
	(void)snprintf(packet.text, sizeof(packet.text), "%s", SLEY_VERSION);
	tell(guest, &packet, host->page_fd);
	introduce(host, guest);
}

/* Takes @fd over, if it returns 0. */
static int admit(struct sley_domain_host *host, struct guest *guest,
		 const struct domain_packet *hello, int fd)
{
	int err;

	if (free_seat(host) == HOST_NO_SEAT)
		host_tick(host, os_now());
	if (free_seat(host) == HOST_NO_SEAT) {
		host_end_guest(host, guest, -EUSERS,
			       "the domain has as many members as it may have");
		return -EUSERS;
	}
	err = map_page(guest, fd);
	if (err) {
		host_end_guest(host, guest, err == -EINVAL ? -EMSGSIZE : err,
			       why_no_page(err));
		return err;
	}
	guest->page_fd = fd;
	take_seat(host, guest, hello);
	return 0;
}

/* ---- tools --------------------------------------------------------------------------- */

static void list_members(struct sley_domain_host *host, struct guest *guest)
{
	struct domain_packet packet;

	domain_packet_listed(&packet, host->nr_members, host->options.nr_cores);
	tell(guest, &packet, host->page_fd);
	for (uint32_t i = 0; i < DOMAIN_MEMBERS_MAX; i++) {
		if (!host->member[i])
			continue;
		domain_packet_peer(&packet, &host->member[i]->person);
		tell(guest, &packet, host->member[i]->page_fd);
	}
	host_end_guest(host, guest, 0, NULL);
}

/* ---- packets ------------------------------------------------------------------------- */

/* Takes @fd over, if it returns 0. */
static int obey(struct sley_domain_host *host, struct guest *guest,
		struct domain_packet *packet, int fd)
{
	int err = domain_packet_check(packet, DOMAIN_OF_GUEST, fd >= 0);
	char text[DOMAIN_TEXT];

	if (err == -EPROTONOSUPPORT) {
		domain_packet_explain_version(text, packet);
		host_end_guest(host, guest, err, text);
	} else if (err || guest->seat != HOST_NO_SEAT) {
		err = -EPROTO;
		host_end_guest(host, guest, err, "a packet that is not due");
	} else if (packet->kind == DOMAIN_LIST) {
		list_members(host, guest);
	} else {
		err = admit(host, guest, packet, fd);
	}
	return err;
}

void host_hear(struct sley_domain_host *host, struct guest *guest)
{
	struct domain_packet packet;
	int fd = -1;
	int result = os_seqpacket_recv(guest->socket, &packet, sizeof(packet),
				       &fd, 1, false);

	if (result == -EAGAIN)
		return;
	if (result == -EPROTO)
		host_end_guest(host, guest, result, "a packet that is none");
	else if (result != 1)
		host_end_guest(host, guest, 0, NULL); /* it is gone */
	else if (obey(host, guest, &packet, fd) != 0)
		os_close(fd);
}

/* ---- accepting ----------------------------------------------------------------------- */

static bool may_join(struct sley_domain_host *host, const struct os_peer *peer)
{
	const struct sley_domain_peer who = host_peer(peer);

	if (host->options.may_join)
		return host->options.may_join(host->options.self, &who);
	return !peer->uid || peer->uid == geteuid();
}

/* A place for a guest; guests that have said nothing for long make room.  Or NULL. */
static struct guest *find_place(struct sley_domain_host *host)
{
	uint64_t now = os_now();

	for (uint32_t i = 0; i < HOST_GUESTS; i++) {
		if (host->guest[i].socket < 0)
			return &host->guest[i];
	}
	for (uint32_t i = 0; i < HOST_GUESTS; i++) {
		struct guest *guest = &host->guest[i];

		if (guest->seat == HOST_NO_SEAT &&
		    now - guest->connected_ns > HELLO_NS) {
			host_end_guest(host, guest, -ETIMEDOUT,
				       "a handshake without an end");
			return guest;
		}
	}
	return NULL;
}

/*
 * The descriptor by which the end of the process is heard; -1: that of the socket has to
 * do.  False: the process is gone.
 */
static bool watch_process(struct guest *guest)
{
	guest->pidfd = os_local_peer_pidfd(guest->socket, &guest->peer);
	if (guest->pidfd >= 0 &&
	    os_fd_poll(guest->socket, 0) & (POLLHUP | POLLERR)) {
		os_close(guest->pidfd);
		return false;
	}
	if (guest->pidfd == -ESRCH)
		return false;
	if (guest->pidfd < 0)
		guest->pidfd = -1;
	return true;
}

static int watch(struct sley_domain_host *host, struct guest *guest)
{
	uint32_t tag = 2 * (uint32_t)(guest - host->guest);
	int err = os_epoll_add(host->epoll, guest->socket, tag);

	if (!err && guest->pidfd >= 0)
		err = os_epoll_add(host->epoll, guest->pidfd, tag + 1);
	return err;
}

static void greet(struct sley_domain_host *host, int socket)
{
	struct os_peer peer = { .pid = 0 };
	struct guest *guest = NULL;
	int err = os_local_peer(socket, &peer);

	if (!err && !may_join(host, &peer))
		refuse(host, socket, &peer, -EACCES,
		       "this user may not join the domain");
	else if (!err && !(guest = find_place(host)))
		refuse(host, socket, &peer, -EUSERS,
		       "too many processes connect at a time");
	if (!guest) {
		os_seqpacket_hang_up(socket);
		return;
	}
	*guest = (struct guest){ .socket = socket,
				 .pidfd = -1,
				 .peer = peer,
				 .connected_ns = os_now(),
				 .seat = HOST_NO_SEAT,
				 .page_fd = -1 };
	if (!watch_process(guest)) {
		os_close(socket);
		guest->socket = -1;
		return;
	}
	err = watch(host, guest);
	if (err)
		host_end_guest(host, guest, err, "the kernel cannot watch it");
}

int host_accept(struct sley_domain_host *host)
{
	for (int i = 0; i < ACCEPTS_AT_ONCE; i++) {
		int socket = os_accept(host->listener.fd, NULL, NULL);

		if (socket >= 0)
			greet(host, socket);
		else if (socket == -EAGAIN)
			return 0;
		else if (socket != -ECONNABORTED)
			return socket;
	}
	return 0;
}
