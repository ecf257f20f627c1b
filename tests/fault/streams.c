/* SPDX-License-Identifier: MIT */
/*
 * streams.c - streams, listeners, datagrams and names of hosts: a server answers its
 * client, whatever has failed before; a failure is told to the side that made the call.
 */
#include "fault/io_scene.h"

#include <errno.h>
#include <string.h>

#define NO_SOCKET                                                              \
	-EADDRINUSE, -EACCES, -ENOBUFS, -ECONNREFUSED, -EAGAIN, NO_WAIT
#define NO_BYTES                                                               \
	-EPIPE, -ECONNRESET, -ENOBUFS, -EIO, -ETIMEDOUT, -EBADF, NO_WAIT

/* ---- names -------------------------------------------------------------------------------- */

static void resolve(void *arg)
{
	struct sley_address address;

	(void)arg;
	trial_mark();
	(void)TRY(PATIENT(sley_address_resolve_until(
			  &address, 1, "localhost:80", in_time())),
		  -EAGAIN, -ENOMEM, -ETIMEDOUT);
}

SCENARIO(names_of_hosts)
{
	trial_play(resolve);
}

SCENARIO(names_of_hosts_of_threads)
{
	resolve(NULL);
}

/* ---- datagrams ---------------------------------------------------------------------------- */

static void use_datagrams(void *arg)
{
	struct sley_address address, from;
	char data[8];
	int fd = -1;

	(void)arg;
	trial_mark();
	if (!TRY(fd = sley_datagram_open("127.0.0.1:0"), NO_SOCKET))
		return;
	CHECK_EQ(sley_address_of(&address, fd), 0);
	if (TRY(PATIENT(sley_datagram_send_until(fd, "abc", 3, &address,
						 in_time())),
		NO_BYTES) &&
	    TRY(PATIENT(sley_datagram_recv_until(fd, data, sizeof(data), &from,
						 in_time())),
		NO_BYTES))
		CHECK_EQ(memcmp(data, "abc", 3), 0);
	close_it(fd);
}

SCENARIO(datagrams)
{
	trial_play(use_datagrams);
}

/* ---- a server ------------------------------------------------------------------------------- */

static struct sley_listener listener;

static void close_stream(struct sley_stream *stream)
{
	static const int errors[] = { -EIO, -EDQUOT, NO_BYTES, 0 };
	int err = sley_stream_close_until(stream, in_time());

	(void)!trial_failed(TEST_PLACE("sley_stream_close"), err, errors);
	CHECK_EQ(sley_stream_fd(stream), -1);
}

static void close_listener(void)
{
	static const int errors[] = { -EIO, -EDQUOT, 0 };
	int err = sley_listener_close(&listener);

	(void)!trial_failed(TEST_PLACE("sley_listener_close"), err, errors);
	CHECK_EQ(sley_listener_close(&listener), -EBADF);
}

static int echo(struct sley_stream *stream, void *arg)
{
	char data[4];

	(void)arg;
	if (TRY(PATIENT(sley_stream_read_exactly_until(stream, data, 4,
						       in_time())),
		NO_BYTES)) {
		sley_stream_cork(stream);
		(void)TRY(PATIENT(sley_stream_write_until(stream, data, 4,
							  in_time())),
			  NO_BYTES);
		(void)TRY(PATIENT(sley_stream_uncork_until(stream, in_time())),
			  NO_BYTES);
	}
	close_stream(stream);
	return 0;
}

/* A shortage that passes does not end a server. */
static void serve(void *arg)
{
	static const int errors[] = { NO_BYTES, 0 };
	int err = sley_listener_serve(&listener, echo, NULL, NULL);

	(void)arg;
	if (trial_may_give_up())
		(void)!trial_failed(TEST_PLACE("serve"), err, errors);
	else
		CHECK_EQ(err, 0);
}

/* The server finds a listener that is watched already, and tells of no failure there. */
static int accept_nothing(void)
{
	struct sley_stream stream;
	int err = sley_listener_accept_until(&listener, &stream,
					     sley_now() + SLEY_MSEC);

	return err == -ETIMEDOUT ? 0 : err;
}

static void ask(struct sley_stream *stream)
{
	char data[4] = "";

	if (TRY(PATIENT(sley_stream_write_until(stream, "ping", 4, in_time())),
		NO_BYTES) &&
	    TRY(PATIENT(sley_stream_read_exactly_until(stream, data, 4,
						       in_time())),
		NO_BYTES) &&
	    !trial_may_give_up())
		CHECK_EQ(memcmp(data, "ping", 4), 0);
}

/* A connection waits when the server begins. */
static void connect_and_ask(void)
{
	struct sley_group group = SLEY_GROUP_INIT;
	char address[SLEY_ADDRESS_TEXT];
	struct sley_stream stream;
	struct sley_task task;
	bool connected;

	CHECK_GT(sley_listener_address(&listener, address, sizeof(address)), 0);
	connected = TRY(
		PATIENT(sley_stream_connect_until(&stream, address, in_time())),
		-ETIMEDOUT, NO_SOCKET);
	sley_spawn(&group, &task, serve, NULL);
	if (connected) {
		ask(&stream);
		close_stream(&stream);
	}
	close_listener();
	sley_join(&group);
}

static void use_server(void *arg)
{
	(void)arg;
	trial_mark();
	trial_may_absorb("accept4"); /* as prepare() of tolerated.c */
	trial_may_absorb("recv");    /* of what a close throws away */
	if (!TRY(sley_listener_open(&listener, "127.0.0.1:0", NULL), NO_SOCKET))
		return;
	if (TRY(accept_nothing(), -ENOBUFS, NO_WAIT))
		connect_and_ask();
	else
		close_listener();
}

SCENARIO(servers_and_clients)
{
	trial_play(use_server);
}
