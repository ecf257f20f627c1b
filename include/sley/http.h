/* SPDX-License-Identifier: MIT */
/*
 * sley/http.h - HTTP/1.1: a server, and a client for one connection.
 *
 * In a library of its own: link sley::http, or use pkg-config --libs sley-http.
 *
 *     static int hello(struct sley_http_request *request,
 *                      struct sley_http_response *response, void *arg)
 *     {
 *             return sley_http_respond(response, 200, "text/plain", "hello\n", 6);
 *     }
 *
 *     err = sley_http_server_open(&server, "127.0.0.1:8080", hello, NULL, NULL);
 *     if (!err)
 *             err = sley_http_server_run(&server);
 *
 * A connection is a task.  Its requests come one after the other, and for each the
 * server calls the *handler*, on the fiber of the connection.  The handler may wait
 * as any task may: for channels, for other servers, for its client.
 *
 * What the server does by itself: it refuses requests that are malformed, too large
 * or too slow (400, 408, 413, 414, 431, 501, 505; docs/adr/0034 says which are
 * malformed), and closes such a connection after the answer.  It keeps a good
 * connection for further requests.  It answers requests that came together with as
 * few system calls as possible: an answer may wait in a buffer while the handler of
 * the next request that has come already runs.  It adds Date, Content-Length or
 * Transfer-Encoding, and Connection.
 *
 * Limits are in struct sley_http_options, with defaults for a server that strangers
 * can reach.  A deadline is kept to within a second, unless it is below 2 s.
 *
 * Handlers return 0, or a negative error.  If a handler has not answered, the server
 * does: 404 for -ENOENT, 403 for -EACCES and -EPERM, 503 for -ECANCELED, 500 for all
 * others and for 0.
 * If a read of the body has failed, the answer is the one for that failure.  An
 * answer that was begun and cannot be completed ends the connection.
 *
 * Not here: TLS (put a proxy in front), HTTP/2, compression, proxies.
 */
#ifndef SLEY_HTTP_H
#define SLEY_HTTP_H

#include <sley/compiler.h>
#include <sley/listener.h>
#include <sley/scope.h>
#include <sley/stream.h>
#include <sley/sync.h>
#include <sley/time.h>

SLEY_BEGIN_DECLS

/* Bytes in memory of the library.  Without a NUL behind; .data NULL: there is none. */
struct sley_http_text {
	const char *data;
	size_t size;
};

/*
 * A request, for its handler and as long as the handler runs.  The texts are in the
 * buffer of the connection.
 */
struct sley_http_request {
	struct sley_http_text
		method; /* "GET"; letters as they came             */
	struct sley_http_text path; /* with escapes, "/" at least; "*" for
				       * the server as a whole             */
	struct sley_http_text query; /* behind the question mark, with escapes  */
	bool has_body;
	bool is_head;   /* the method is HEAD: no body will be sent          */
	void *exchange; /* private                                           */
};

/* The answer to a request, as long as the handler runs. */
struct sley_http_response {
	int status;     /* of the answer that was begun; 0: none             */
	void *exchange; /* private                                           */
};

typedef int sley_http_handler(struct sley_http_request *request,
			      struct sley_http_response *response, void *arg);

/* For the limits in milliseconds, and for .requests_max: none. */
#define SLEY_HTTP_NO_LIMIT UINT32_MAX

#define SLEY_HTTP_HEAD_MAX 16384

/* Zero means the default in every field. */
struct sley_http_options {
	uint32_t size; /* of this struct; SLEY_HTTP_OPTIONS sets it         */
	uint32_t head_max; /* bytes of a head, default 8192; at most
			    * SLEY_HTTP_HEAD_MAX */
	uint64_t body_max; /* bytes of a body, default 1 MiB                    */
	uint32_t idle_ms; /* until the first byte of a request, default 15 s   */
	uint32_t head_ms; /* from there to the end of the head, default 10 s   */
	uint32_t body_ms; /* from there to the end of the body, default 60 s   */
	uint32_t write_ms;     /* until the client has taken what one call, or a
			    * megabyte of a file, gives it; default 30 s */
	uint32_t requests_max; /* of a connection, default 10,000            */
	uint32_t connections_max; /* at a time, default 4096; more wait         */
	uint64_t reserved[4];
};

#define SLEY_HTTP_OPTIONS(...)                                                 \
	SLEY_LITERAL(struct sley_http_options, __VA_ARGS__)

/*
 * A server.  Caller-owned from sley_http_server_open() until sley_http_server_run(),
 * and each sley_http_server_stop(), has returned.  The fields are private.
 */
struct sley_http_server {
	struct sley_listener listener;
	struct sley_http_options options;
	sley_http_handler *handler;
	void *arg;
	struct sley_mutex lock;
	void *connections; /* a list, under the lock                            */
	struct sley_scope scope;
	struct sley_event ended;
	bool runs, stops;
};

/* ---- a server ----------------------------------------------------------- */

/*
 * sley_http_server_open - listen for connections.
 *
 * @address is as for sley_listener_open(): "127.0.0.1:8080", "[::1]:8080",
 * "unix:/run/my.sock"; with port 0 the system chooses, and
 * sley_http_server_address() tells.  @options may be NULL.
 *
 * Context:  any thread
 * Blocks:   the fiber, if @address has a name; a plain thread sleeps
 * Owner:    @server is borrowed until sley_http_server_run() or
 *           sley_http_server_close() returns; @options and @address for the call.
 * Errors:   -EINVAL  a limit is out of range, or options->size is 0
 *           -E2BIG   a newer option is set
 *           and as sley_listener_open()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_http_server_open(struct sley_http_server *server, const char *address,
		      sley_http_handler *handler, void *arg,
		      const struct sley_http_options *options);

/*
 * sley_http_server_address - where the server listens, as a text.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   as sley_listener_address()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_http_server_address(struct sley_http_server *server, char *text,
			 size_t size);

/*
 * sley_http_server_run - serve until the server is stopped, or the task cancelled.
 *
 * Each connection is a task.  After sley_http_server_stop() the call waits for
 * requests under way, and returns 0.  A cancel of the calling task cancels all
 * connections, with their handlers.
 *
 * Context:  a task or a bound thread
 * Blocks:   the fiber
 * Order:    everything in handlers happens before the return.
 * Errors:   -ECANCELED  the task was cancelled, or a stop ran out of time
 *           and as sley_listener_serve()
 */
SLEY_EXPORT SLEY_TASK_ONLY SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_http_server_run(struct sley_http_server *server);

/*
 * sley_http_server_stop_until - sley_http_server_stop() with a deadline.
 *
 * At @deadline_ns the requests that are still under way are cancelled.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ETIMEDOUT  requests were cancelled
 *           and as sley_http_server_stop()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_http_server_stop_until(struct sley_http_server *server,
			    uint64_t deadline_ns);

/*
 * sley_http_server_stop - take no more requests, and wait for those under way.
 *
 * New connections are refused, connections between two requests are closed, and
 * each answer that is begun from now on is the last one of its connection.  A
 * request whose first byte came before the stop is under way.  Not for handlers:
 * a handler would wait for itself.  The server must be in sley_http_server_run(),
 * or be about to call it.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @server is not used after the return.
 * Errors:   -ECANCELED  the task was cancelled, and so were the requests under way
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline int
sley_http_server_stop(struct sley_http_server *server)
{
	return sley_http_server_stop_until(server, SLEY_FOREVER);
}

/*
 * sley_http_server_close - give up a server that never ran.
 *
 * Context:  any thread
 * Blocks:   the fiber, for a short time; a plain thread sleeps
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void
sley_http_server_close(struct sley_http_server *server);

/* ---- a request ----------------------------------------------------------- */

/*
 * sley_http_find - the value of the first field of a request with this name.
 *
 * @lower is the name in lower case.  .data is NULL if there is no such field.
 *
 * Context:  the handler of @request
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_TASK_ONLY SLEY_NEVER_BLOCKS struct sley_http_text
sley_http_find(const struct sley_http_request *request, const char *lower);

/*
 * sley_http_field - field number @idx of a request, from 0 on.
 *
 * Context:  the handler of @request
 * Blocks:   never
 * Errors:   -ENOENT  there are not so many fields
 */
SLEY_EXPORT SLEY_TASK_ONLY SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_http_field(const struct sley_http_request *request, size_t idx,
		struct sley_http_text *name, struct sley_http_text *value);

/*
 * sley_http_path - the path of a request without escapes, and with a NUL behind.
 *
 * Returns the length.  The path begins with a slash.  It has no segment "." or
 * "..", no control character, and no slash that was an escape: such a path is
 * refused.
 *
 * Context:  the handler of @request
 * Blocks:   never
 * Errors:   -EINVAL        the path is refused; return this, and the answer is 400
 *           -ENAMETOOLONG  longer than @size; return this, and the answer is 414
 */
SLEY_EXPORT SLEY_TASK_ONLY SLEY_NEVER_BLOCKS SLEY_MUST_CHECK ssize_t
sley_http_path(const struct sley_http_request *request, char *path,
	       size_t size);

/*
 * sley_http_read - read what has come of the body, up to @size bytes.
 *
 * Returns the number of bytes, 0 at the end.  A client that waits for "100
 * Continue" gets it by the first call.  After the handler the server passes over
 * what was not read, if that is not much, or closes the connection.  The deadline
 * is .body_ms of the options, for the whole body.
 *
 * Context:  the handler of @request
 * Blocks:   the fiber
 * Owner:    @data is borrowed for the call.
 * Errors:   -ETIMEDOUT  the body came too slowly: 408
 *           -EMSGSIZE   the body is larger than .body_max: 413
 *           -EBADMSG    a chunk is malformed: 400
 *           -ENODATA    the connection has ended in the middle of the body
 *           -ECANCELED  the task was cancelled
 *           and as sley_stream_read(); all of these stay
 */
SLEY_EXPORT SLEY_TASK_ONLY SLEY_BLOCKS_FIBER SLEY_MUST_CHECK ssize_t
sley_http_read(struct sley_http_request *request, void *data, size_t size);

/* ---- an answer ------------------------------------------------------------ */

/*
 * sley_http_add - add a field to an answer that is not begun.
 *
 * Do not add Date, Connection, Content-Length, Content-Type or Transfer-Encoding:
 * these are the server's.
 *
 * Context:  the handler of @response
 * Blocks:   never
 * Owner:    @name and @value are borrowed for the call.
 * Errors:   -EINVAL   a character that no field may have, as a line feed
 *           -EALREADY the answer is begun
 *           -ENOSPC   all fields together are too long (about 1 KiB)
 */
SLEY_EXPORT SLEY_TASK_ONLY SLEY_NEVER_BLOCKS SLEY_MUST_CHECK int
sley_http_add(struct sley_http_response *response, const char *name,
	      const char *value);

/*
 * sley_http_respond - answer with a body in one piece.
 *
 * @type is the Content-Type, or NULL.  @status is from 200 to 599; with 204 and 304
 * there is no body, and @size must be 0.
 *
 * Context:  the handler of @response
 * Blocks:   the fiber
 * Owner:    @type and @data are borrowed for the call.
 * Errors:   -EINVAL     @status is out of range, or @type has a bad character
 *           -EALREADY   there is an answer
 *           -ETIMEDOUT  the client does not take it
 *           -ECANCELED  the task was cancelled
 *           and as sley_stream_write()
 */
SLEY_EXPORT SLEY_TASK_ONLY SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_http_respond(struct sley_http_response *response, int status,
		  const char *type, const void *data, size_t size);

/*
 * sley_http_begin - begin an answer whose size is not known.
 *
 * The body is what sley_http_write() writes until the handler returns 0.  It is
 * sent in chunks; a client of HTTP/1.0 gets it up to the end of the connection.
 *
 * Context:  the handler of @response
 * Blocks:   the fiber
 * Owner:    @type is borrowed for the call.
 * Errors:   as sley_http_respond()
 */
SLEY_EXPORT SLEY_TASK_ONLY SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_http_begin(struct sley_http_response *response, int status,
		const char *type);

/*
 * sley_http_write - write a part of the body that sley_http_begin() has begun.
 *
 * The part is sent at once.  For HEAD nothing is sent.
 *
 * Context:  the handler of @response
 * Blocks:   the fiber
 * Owner:    @data is borrowed for the call.
 * Errors:   -EINVAL  sley_http_begin() was not called
 *           and as sley_http_respond()
 */
SLEY_EXPORT SLEY_TASK_ONLY SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_http_write(struct sley_http_response *response, const void *data,
		size_t size);

/*
 * sley_http_respond_file - answer GET or HEAD with a file.
 *
 * Sends Last-Modified and ETag, answers conditions (304) and a range (206, 416).
 * A request for several ranges gets the whole file.  The file must not shrink
 * meanwhile: the connection ends then.  Up to 8 KiB are read before anything is
 * sent: if that fails, there is no answer yet, and the handler may give another.
 *
 * Context:  the handler of @response
 * Blocks:   the fiber
 * Owner:    @fd is borrowed for the call; it is a regular file.
 * Errors:   -EINVAL  @fd is no regular file
 *           -EIO     the file has shrunk
 *           and as sley_http_respond(), sley_io_pread() and
 *           sley_stream_sendfile()
 */
SLEY_EXPORT SLEY_TASK_ONLY SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_http_respond_file(struct sley_http_response *response, int fd,
		       const char *type);

/* ---- a client --------------------------------------------------------------- */

/*
 * One connection to a server, for one request at a time.  Caller-owned from
 * sley_http_connect() until sley_http_client_close().  The fields are private.
 */
struct sley_http_client {
	struct sley_stream stream;
	char host[128];
	uint64_t message[192]; /* what of the answer was read, and how far */
};

/*
 * sley_http_connect_until - sley_http_connect() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ETIMEDOUT, and as sley_http_connect()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_http_connect_until(struct sley_http_client *client, const char *address,
			uint64_t deadline_ns);

/*
 * sley_http_connect - connect to the server at @address.
 *
 * @address is as for sley_stream_connect(), and is sent as Host.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    after an error there is nothing to close.
 * Errors:   -ENAMETOOLONG  @address has more than 127 characters
 *           and as sley_stream_connect()
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline int
sley_http_connect(struct sley_http_client *client, const char *address)
{
	return sley_http_connect_until(client, address, SLEY_FOREVER);
}

/* A request of a client.  Zero means the default in every field but .target. */
struct sley_http_question {
	uint32_t size;      /* of this struct; SLEY_HTTP_QUESTION sets it    */
	const char *method; /* default "GET"                                 */
	const char *target; /* "/path?query"                                 */
	const char *fields; /* whole lines: "Accept: text/plain\r\n"         */
	const void *data;   /* the body                                      */
	size_t data_size;
	uint64_t reserved[4];
};

#define SLEY_HTTP_QUESTION(...)                                                \
	SLEY_LITERAL(struct sley_http_question, __VA_ARGS__)

/*
 * sley_http_ask_until - sley_http_ask() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ETIMEDOUT, and as sley_http_ask()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_http_ask_until(struct sley_http_client *client,
		    const struct sley_http_question *question,
		    uint64_t deadline_ns);

/*
 * sley_http_ask - send a request, and wait for the head of the answer.
 *
 * Returns the status of the answer.  What was not read of the answer before is
 * passed over.  The text in @question is sent as it is: check what comes from
 * strangers.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @question, with all that it names, is borrowed for the call.
 * Errors:   -ENODATA    the server has closed the connection
 *           -EBADMSG    the answer is no HTTP/1.1
 *           -EMSGSIZE   the request's head, or the answer's, is too large
 *           -EINVAL     there is no .target, or question->size is 0
 *           -E2BIG      a newer field of @question is set
 *           -ECANCELED  the task was cancelled
 *           and as sley_stream_write(); after an error, close the client
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline int
sley_http_ask(struct sley_http_client *client,
	      const struct sley_http_question *question)
{
	return sley_http_ask_until(client, question, SLEY_FOREVER);
}

/*
 * sley_http_answer_find - the value of the first field of the answer with this name.
 *
 * @lower is the name in lower case.  Valid until the first read of the body.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS struct sley_http_text
sley_http_answer_find(const struct sley_http_client *client, const char *lower);

/*
 * sley_http_answer_read_until - sley_http_answer_read() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ETIMEDOUT, and as sley_http_answer_read()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK ssize_t
sley_http_answer_read_until(struct sley_http_client *client, void *data,
			    size_t size, uint64_t deadline_ns);

/*
 * sley_http_answer_read - read what has come of the answer, up to @size bytes.
 *
 * Returns the number of bytes, 0 at the end.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @data is borrowed for the call.
 * Errors:   -EBADMSG    a chunk is malformed
 *           -ENODATA    the connection has ended in the middle
 *           and as sley_stream_read()
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline ssize_t
sley_http_answer_read(struct sley_http_client *client, void *data, size_t size)
{
	return sley_http_answer_read_until(client, data, size, SLEY_FOREVER);
}

/*
 * sley_http_client_close - close the connection.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void
sley_http_client_close(struct sley_http_client *client);

SLEY_END_DECLS
#endif
