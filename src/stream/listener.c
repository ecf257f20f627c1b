/* SPDX-License-Identifier: MIT */
/*
 * listener.c - <sley/listener.h>: a socket that connections come to.
 *
 * Closing.  A listener may be closed while tasks accept from it, or are about to, and
 * the kernel gives its number out again.  So an accepter becomes a user of the
 * descriptor (io/descriptor.h) and then looks at the listener once more:
 *
 *   accepter                              closer
 *   1. reads the number                   1. exchanges the number for -1
 *   2. becomes a user of the number       2. sley_io_close(): wakes the users, waits
 *   3. the listener has another number:      until they have left, closes
 *      leaves, -EBADF
 *   4. accepts
 *
 * A user that enters before the close of the number is waited for.  A user that enters
 * after it has acquired what the closer did before (DS2 of io/descriptor.h), and finds
 * -1.  So does a user that the close refuses, or wakes (DS3 of io/descriptor.h): a
 * server that gets -EBADF finds out that its listener was closed.
 *
 * TCP_NODELAY is set on the listener: Linux gives it to each connection.
 */
#include "stream/listener.h"

#include "base/options.h"
#include "io/descriptor.h"
#include "os/network.h"
#include "os/shared_memory.h"
#include "stream/address.h"
#include "stream/stream.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sley/io.h>
#include <sys/un.h>

/* ---- open ----------------------------------------------------------------------------- */

static int family_of(const struct sley_address *address)
{
	return address->storage.family;
}

static int set_up(int fd, const struct sley_address *address,
		  const struct sley_listener_options *options)
{
	int err;

	if (family_of(address) == AF_UNIX)
		return 0;
	err = os_socket_switch_on(fd, SOL_SOCKET, SO_REUSEADDR);
	if (!err && options->reuse_port)
		err = os_socket_switch_on(fd, SOL_SOCKET, SO_REUSEPORT);
	if (!err && !options->delay)
		err = os_socket_switch_on(fd, IPPROTO_TCP, TCP_NODELAY);
	return err;
}

/* The path of a Unix socket in the file system; or NULL. */
static const char *path_of(const struct sley_address *address)
{
	const struct sockaddr_un *name =
		(const struct sockaddr_un *)&address->storage;

	return family_of(address) == AF_UNIX && name->sun_path[0]
		       ? name->sun_path
		       : NULL;
}

/* Is there a Unix socket that no process listens at? */
static bool is_left_behind(const struct sley_address *address)
{
	int fd = os_socket(AF_UNIX, SOCK_STREAM), err;

	if (fd < 0)
		return false;
	err = os_connect(fd, address_sockaddr(address), address->length);
	os_close(fd);
	return err == -ECONNREFUSED;
}

static int bind_to(int fd, const struct sley_address *address)
{
	int err = os_bind(fd, address_sockaddr(address), address->length);

	if (err != -EADDRINUSE || !path_of(address) || !is_left_behind(address))
		return err;
	os_remove_file(path_of(address));
	return os_bind(fd, address_sockaddr(address), address->length);
}

/* A descriptor or -errno. */
static int listen_at(const struct sley_address *address,
		     const struct sley_listener_options *options)
{
	int fd = os_socket(family_of(address), SOCK_STREAM), err;

	if (fd < 0)
		return fd;
	err = descriptor_is_new(fd, "sley_listener_open");
	if (!err)
		err = set_up(fd, address, options);
	if (!err)
		err = bind_to(fd, address);
	if (!err)
		err = os_listen(fd, options->backlog ? options->backlog
						     : SOMAXCONN);
	if (!err)
		return fd;
	os_close(fd);
	return err;
}

/* ":port" on a system without IPv6. */
static bool without_ipv6(struct sley_address *address, const char *text)
{
	const struct sockaddr_in6 *from =
		(const struct sockaddr_in6 *)&address->storage;
	const struct sockaddr_in to = { .sin_family = AF_INET,
					.sin_port = from->sin6_port };

	if (*text != ':')
		return false;
	*(struct sockaddr_in *)&address->storage = to;
	address->length = sizeof(to);
	return true;
}

int sley_listener_open(struct sley_listener *listener, const char *text,
		       const struct sley_listener_options *given)
{
	struct sley_listener_options options;
	struct sley_address address;
	int fd = options_take(&options, given);

	*listener = (struct sley_listener){ .fd = -1 };
	sley_event_init(&listener->changed, true, false);
	if (!fd && options.backlog < 0)
		fd = -EINVAL;
	if (!fd)
		fd = sley_address_resolve(&address, 1, text);
	if (fd < 0)
		return fd;
	fd = listen_at(&address, &options);
	if ((fd == -EAFNOSUPPORT || fd == -EADDRNOTAVAIL) &&
	    without_ipv6(&address, text))
		fd = listen_at(&address, &options);
	if (fd < 0)
		return fd;
	listener->fd = fd;
	return 0;
}

/* ---- use ------------------------------------------------------------------------------ */

static int number_of(const struct sley_listener *listener)
{
	/* relaxed: see above; nothing but the number is read. */
	return load_relaxed(&listener->fd);
}

bool listener_is_closed(const struct sley_listener *listener)
{
	return number_of(listener) < 0;
}

/* Become a user of its descriptor: the number, or -EBADF. */
static int enter(const struct sley_listener *listener,
		 struct io_descriptor **descriptor)
{
	int fd = number_of(listener);
	int err = descriptor_enter(fd, descriptor);

	if (err)
		return err;
	if (likely(number_of(listener) == fd))
		return fd;
	descriptor_leave(*descriptor);
	return -EBADF;
}

int sley_listener_accept_until(struct sley_listener *listener,
			       struct sley_stream *stream, uint64_t deadline_ns)
{
	struct io_descriptor *descriptor;
	int fd = enter(listener, &descriptor), connection;

	if (fd < 0)
		return fd;
	connection = sley_io_accept_until(fd, NULL, NULL, deadline_ns);
	descriptor_leave(descriptor);
	if (connection < 0)
		return connection;
	sley_stream_open(stream, connection);
	return 0;
}

int listener_await(const struct sley_listener *listener)
{
	struct io_descriptor *descriptor;
	int fd = enter(listener, &descriptor), events;

	if (fd < 0)
		return fd;
	if (os_fd_poll(fd, POLLIN)) {
		descriptor_leave(descriptor);
		return 1;
	}
	events = sley_io_poll(fd, POLLIN);
	descriptor_leave(descriptor);
	return events < 0 ? events : 0;
}

int sley_listener_address(const struct sley_listener *listener, char *text,
			  size_t size)
{
	struct sley_address address;
	struct io_descriptor *descriptor;
	int fd = enter(listener, &descriptor), err;

	if (fd < 0)
		return fd;
	err = sley_address_of(&address, fd);
	descriptor_leave(descriptor);
	return err ? err : sley_address_text(&address, text, size);
}

int sley_listener_close(struct sley_listener *listener)
{
	/* relaxed: see above; DS2 and DS3 of io/descriptor.h publish it. */
	int fd = xchg_relaxed(&listener->fd, -1);
	struct sley_address address;

	if (fd < 0)
		return -EBADF;
	sley_event_set(&listener->changed);
	if (!sley_address_of(&address, fd) && path_of(&address))
		os_remove_file(path_of(&address));
	return sley_io_close(fd);
}
