/* SPDX-License-Identifier: MIT */
/*
 * sley/listener.h - a server: connections come, and each gets a task.
 *
 *     static int echo(struct sley_stream *stream, void *arg)
 *     {
 *             const char *line;
 *             ssize_t n;
 *
 *             while ((n = sley_stream_find(stream, &line, "\n", 1)) > 0) {
 *                     if (sley_stream_write(stream, line, (size_t)n) < 0)
 *                             break;
 *                     sley_stream_consume(stream, (size_t)n);
 *             }
 *             return (int)n;
 *     }
 *
 *     err = sley_listener_open(&listener, "127.0.0.1:7777", NULL);
 *     if (!err)
 *             err = sley_listener_serve(&listener, echo, NULL, NULL);
 *
 * A server ends when its listener is closed, by any task, or when its task is
 * cancelled.  Then it waits until all of its connections have ended.
 */
#ifndef SLEY_LISTENER_H
#define SLEY_LISTENER_H

#include <sley/compiler.h>
#include <sley/stream.h>
#include <sley/sync.h>
#include <sley/time.h>

SLEY_BEGIN_DECLS

/*
 * A listener.  Caller-owned from the open until the close has returned, and all
 * calls with it.  The fields are private.
 */
struct sley_listener {
	int32_t fd;       /* -1: closed                                 */
	uint32_t serving; /* 1: a server uses it                        */
	struct sley_event changed; /* a connection ended, or it closes   */
	uint64_t reserved[4];
};

/* The options of a listener.  Zero means the default in every field. */
struct sley_listener_options {
	uint32_t size;   /* of this struct; SLEY_LISTENER_OPTIONS sets it */
	int32_t backlog; /* connections that wait; 0: as many as allowed  */
	bool reuse_port; /* several listeners share the port: SO_REUSEPORT */
	bool delay;      /* TCP: small writes wait, no TCP_NODELAY        */
	uint64_t reserved[4];
};

#define SLEY_LISTENER_OPTIONS(...)                                             \
	SLEY_LITERAL(struct sley_listener_options, __VA_ARGS__)

/*
 * sley_listener_open - listen at @address.
 *
 * Addresses are those of <sley/address.h>; port 0 lets the system choose.  @options
 * may be NULL.  A Unix socket that a server has left in the file system, and that no
 * process listens at, is replaced.  The port of a server that has ended can be used
 * at once (SO_REUSEADDR).
 *
 * Context:  any thread
 * Blocks:   the fiber, if @address has a name; a plain thread sleeps
 * Owner:    @listener is borrowed until it is closed; @address and @options for the
 *           call.
 * Errors:   -EADDRINUSE  another socket listens there
 *           -EINVAL      @address, or options->size is zero, or .backlog is negative
 *           -E2BIG       a newer option is set
 *           and as sley_address_resolve(), socket(2), bind(2): -EACCES, -EMFILE,
 *           -EADDRNOTAVAIL, ...; then there is no listener to close
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_listener_open(struct sley_listener *listener, const char *address,
		   const struct sley_listener_options *options);

/*
 * sley_listener_accept_until - sley_listener_accept() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @stream is borrowed until it is closed, unless the call fails.
 * Errors:   -ETIMEDOUT  no connection came until @deadline_ns
 *           and as sley_listener_accept()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_listener_accept_until(struct sley_listener *listener,
			   struct sley_stream *stream, uint64_t deadline_ns);

/*
 * sley_listener_accept - wait for a connection, and open a stream on it.
 *
 * Several tasks may wait.  At the limit of descriptors the call fails, and the
 * connection stays where it is: close something, or wait a little, and call again.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @stream is borrowed until it is closed, unless the call fails.
 * Errors:   -EBADF      the listener is closed
 *           -ECANCELED, -EMFILE, -ENFILE, -ENOBUFS, -ENOMEM as sley_io_accept()
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline int
sley_listener_accept(struct sley_listener *listener, struct sley_stream *stream)
{
	return sley_listener_accept_until(listener, stream, SLEY_FOREVER);
}

/*
 * sley_listener_address - where a listener listens, as a text.
 *
 * With the port that the system has chosen: "127.0.0.1:41234".  Returns the length
 * of the text; SLEY_ADDRESS_TEXT bytes are enough (<sley/address.h>).
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    @text is borrowed for the call; @size bytes.
 * Errors:   -ENOSPC  @text is too small
 *           -EBADF   the listener is closed
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_listener_address(const struct sley_listener *listener, char *text,
		      size_t size);

/*
 * The function of a connection.  Afterwards the stream is closed.  If the function
 * returns a value below 0, the stream is aborted: the peer sees a reset.  If the
 * function has closed the stream itself, nothing more happens to it.
 */
typedef int sley_serve_fn(struct sley_stream *stream, void *arg);

/* The options of a server.  Zero means the default in every field. */
struct sley_serve_options {
	uint32_t size; /* of this struct; SLEY_SERVE_OPTIONS sets it      */
	uint32_t connections_max; /* at the same time; 0: no limit         */
	uint64_t drain_ns; /* connections that last longer after the close
			    * are cancelled; 0: they may last            */
	uint64_t reserved[4];
};

#define SLEY_SERVE_OPTIONS(...)                                                \
	SLEY_LITERAL(struct sley_serve_options, __VA_ARGS__)

/*
 * sley_listener_serve - accept connections, and call @fn(stream, @arg) for each in a
 * task of its own.
 *
 * Ends when the listener is closed: 0; when the calling task is cancelled; or when
 * the listener fails.  Then no more connections are accepted, and the call waits for
 * all that there are.  A cancel of the calling task cancels their tasks, too; a
 * close of the listener does so after .drain_ns.  A connection that fails does not
 * end the server.
 *
 * At .connections_max no connection is accepted until one ends; peers wait in the
 * backlog.  Where the process or the system has no more descriptors, or no memory,
 * the server waits a little, or until a connection ends, and tries again: .report
 * gets a line, every ten seconds at most.
 *
 * Context:  a task or a bound thread; one server at a time for each listener
 * Blocks:   the fiber; a bound thread sleeps
 * Owner:    @listener, @arg are borrowed for the call; @options is copied.
 * Order:    everything before the call happens before @fn; everything in @fn happens
 *           before the return.
 * Errors:   -ECANCELED  the task was cancelled
 *           -EBUSY      another server uses the listener
 *           -EINVAL     options->size is zero; -E2BIG: a newer option is set
 *           SLEY_ENORUNTIME  the thread is not bound
 *           and as accept(2), for errors that no wait mends
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_listener_serve(struct sley_listener *listener, sley_serve_fn *fn,
		    void *arg, const struct sley_serve_options *options);

/*
 * sley_listener_close - listen no more.
 *
 * Wakes all tasks that wait for a connection, and ends a server.  The file of a
 * Unix socket is removed.  A second close does nothing.
 *
 * Context:  any thread
 * Blocks:   the fiber, for a short time; a plain thread sleeps
 * Errors:   -EBADF  the listener is closed already
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER int
sley_listener_close(struct sley_listener *listener);

SLEY_END_DECLS
#endif
