/* SPDX-License-Identifier: MIT */
/*
 * sley/stream.h - streams of bytes: connections, with buffers.
 *
 * A stream reads and writes a connection: TCP, a Unix socket, a pipe.  Reading is
 * buffered, so a program can ask for a line, or for 12 bytes, or look at bytes
 * before it takes them:
 *
 *     ssize_t n;
 *     const char *line;
 *
 *     while ((n = sley_stream_find(stream, &line, "\n", 1)) > 0) {
 *             if (sley_stream_write(stream, line, (size_t)n) < 0)
 *                     break;
 *             sley_stream_consume(stream, (size_t)n);
 *     }
 *
 * Writing is not buffered, and waits until the connection has taken all bytes: a
 * slow reader slows its writer down.  Between sley_stream_cork() and
 * sley_stream_uncork() small writes are collected, and go out together.
 *
 * Calls return a number of bytes, or a negative error value (<sley/error.h>).
 * Every call that may wait has a variant with a deadline, and a cancel of the task
 * ends a wait: -ETIMEDOUT, -ECANCELED.  Such an end loses nothing: bytes that have
 * come stay in the buffer, and the call can be made again.
 *
 * Buffers.  A buffer has SLEY_STREAM_BUFFER bytes and belongs to the library.  A
 * stream has one for reading while bytes are in it, and one for writing between
 * cork and flush.  So a stream that waits for its peer has no buffer, and a server
 * with 100,000 silent connections has no 100,000 buffers.  A program can do the
 * same with what it needs for one message: sley_stream_borrow().
 *
 * Layers.  A stream stands on a layer: a table of functions that read and write.
 * sley_stream_open() puts it on a descriptor.  A program that encrypts or counts
 * bytes brings its own layer, sley_stream_init(), and all else stays as it is.
 *
 * A stream has one reader and one writer at a time; they may be two tasks.  A close
 * needs the stream for itself.  To end the waits of another task on a stream,
 * cancel the task.
 */
#ifndef SLEY_STREAM_H
#define SLEY_STREAM_H

#include <sley/compiler.h>
#include <sley/time.h>

#include <sys/types.h>

SLEY_BEGIN_DECLS

struct iovec; /* of <sys/uio.h> */

#define SLEY_STREAM_BUFFER 16384u

/*
 * What a stream stands on.  Each function gets the pointer that was given to
 * sley_stream_init(), and waits as the calls of <sley/io.h> do.
 */
struct sley_stream_layer {
	/*
	 * Up to @size bytes, at least one; 0 at the end; or -errno.  With a
	 * @deadline_ns of 0 the function does not wait: -EAGAIN.
	 */
	ssize_t (*read)(void *self, void *data, size_t size,
			uint64_t deadline_ns);
	/*
	 * All bytes of all parts.  Fewer: an error came after so many bytes, and
	 * the next call returns it.
	 */
	ssize_t (*write)(void *self, const struct iovec *parts, int nr,
			 uint64_t deadline_ns);
	/*
	 * Wait until a read is worth a try: 0 or -errno.  A return without a
	 * reason is allowed after a read that got bytes, but not after -EAGAIN.
	 * NULL: the stream keeps a buffer while it waits in @read.
	 */
	int (*ready)(void *self, uint64_t deadline_ns);
	int (*shut)(void *self);  /* no more writes: 0 or -errno; or NULL  */
	int (*close)(void *self); /* in any case: 0 or -errno              */
	int (*fd)(void *self);    /* for sendfile(2); -1, or NULL: none    */
};

/*
 * A stream.  Caller-owned from the open to the close, and not moved meanwhile.  The
 * fields are private.
 */
struct sley_stream {
	const struct sley_stream_layer *layer;
	void *self; /* of the layer                                      */
	int32_t fd; /* of the layer of descriptors                       */
	/* The reader's. */
	bool in_full;  /* the last read filled the buffer: there may be more */
	bool in_empty; /* always false                                  */
	bool in_ended; /* the end was read                              */
	uint32_t in_from;
	uint32_t in_to;
	char *in; /* NULL: nothing is buffered                          */
	/* The writer's. */
	char *out; /* NULL: the same                                     */
	uint32_t out_size;
	bool corked;
	uint64_t reserved[8];
};

/* ---- open ----------------------------------------------------------------- */

/*
 * sley_stream_init - a stream on a layer of the program.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    @stream and @layer are borrowed, and @self belongs to the layer, until
 *           the stream is closed.
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_stream_init(struct sley_stream *stream,
		 const struct sley_stream_layer *layer, void *self);

/*
 * sley_stream_open - a stream on a descriptor.
 *
 * A connected socket, a pipe, a terminal or a file.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    @stream is borrowed until it is closed, and owns @fd.
 * Errors:   none; an @fd that is not open shows in the next call: -EBADF
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_stream_open(struct sley_stream *stream, int fd);

/*
 * sley_stream_connect_until - sley_stream_connect() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @stream is borrowed until it is closed; @address for the call.
 * Errors:   -ETIMEDOUT  also the network's own time-out
 *           and as sley_stream_connect()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_stream_connect_until(struct sley_stream *stream, const char *address,
			  uint64_t deadline_ns);

/*
 * sley_stream_connect - connect to @address, and open a stream.
 *
 * "127.0.0.1:80", "[::1]:80", "example.org:80", "localhost:http",
 * "unix:/path/to/socket", "unix:@name" (of the abstract names of Linux):
 * <sley/address.h>.  A name is looked up, and its addresses are tried one after
 * the other.  A TCP socket gets TCP_NODELAY.
 *
 * On failure there is no stream to close.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @stream is borrowed until it is closed; @address for the call.
 * Errors:   -ECANCELED
 *           and as sley_address_resolve(); of the last address that was
 *           tried, as connect(2) and socket(2): -ECONNREFUSED, -EMFILE, ...
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline int
sley_stream_connect(struct sley_stream *stream, const char *address)
{
	return sley_stream_connect_until(stream, address, SLEY_FOREVER);
}

/* ---- read ----------------------------------------------------------------- */

/*
 * sley_stream_read_until - sley_stream_read() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @data is borrowed for the call.
 * Errors:   -ETIMEDOUT  nothing came until @deadline_ns
 *           and as sley_stream_read()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK ssize_t
sley_stream_read_until(struct sley_stream *stream, void *data, size_t size,
		       uint64_t deadline_ns);

/*
 * sley_stream_read - read up to @size bytes that have come; wait for the first.
 *
 * Returns the number of bytes; 0 at the end of the stream.  Bytes in the buffer
 * come first, and then alone.  A large read does not go through the buffer.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @data is borrowed for the call.
 * Errors:   -ECANCELED  the task was cancelled; nothing is read
 *           -ENOMEM     there is no memory for a buffer; nothing is read
 *           and as sley_io_read(): -ECONNRESET, -EBADF, ...
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline ssize_t
sley_stream_read(struct sley_stream *stream, void *data, size_t size)
{
	return sley_stream_read_until(stream, data, size, SLEY_FOREVER);
}

/*
 * sley_stream_read_exactly_until - sley_stream_read_exactly() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @data is borrowed for the call.
 * Errors:   -ETIMEDOUT  no byte came until @deadline_ns
 *           and as sley_stream_read_exactly()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK ssize_t
sley_stream_read_exactly_until(struct sley_stream *stream, void *data,
			       size_t size, uint64_t deadline_ns);

/*
 * sley_stream_read_exactly - read @size bytes.
 *
 * Returns @size.  Fewer bytes come at the end of the stream, and if the wait ends
 * early; the next call tells which: 0, or the error.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @data is borrowed for the call.
 * Errors:   as sley_stream_read(), if no byte came before
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline ssize_t
sley_stream_read_exactly(struct sley_stream *stream, void *data, size_t size)
{
	return sley_stream_read_exactly_until(stream, data, size, SLEY_FOREVER);
}

/*
 * sley_stream_peek_until - sley_stream_peek() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    *@data belongs to the stream.
 * Errors:   -ETIMEDOUT  fewer came until @deadline_ns; they stay in the buffer
 *           and as sley_stream_peek()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK ssize_t
sley_stream_peek_until(struct sley_stream *stream, const char **data,
		       size_t at_least, uint64_t deadline_ns);

/*
 * sley_stream_peek - look at the next bytes without taking them.
 *
 * Waits until @at_least bytes are in the buffer, and returns how many there are,
 * perhaps more.  Fewer are there at the end of the stream.  *@data points at them,
 * until the next call on the stream.  With an @at_least of 0 the call never waits.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    *@data belongs to the stream.
 * Errors:   -EINVAL     @at_least is above SLEY_STREAM_BUFFER
 *           and as sley_stream_read(); the bytes in the buffer stay there
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline ssize_t
sley_stream_peek(struct sley_stream *stream, const char **data, size_t at_least)
{
	return sley_stream_peek_until(stream, data, at_least, SLEY_FOREVER);
}

/*
 * sley_stream_consume - take @n bytes that sley_stream_peek() or sley_stream_find()
 * has shown.
 *
 * With the last byte the buffer goes back to the library.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none; an @n above the number of bytes in the buffer is misuse
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_stream_consume(struct sley_stream *stream, size_t n);

/*
 * sley_stream_find_until - sley_stream_find() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    *@data belongs to the stream; @delimiter is borrowed for the call.
 * Errors:   -ETIMEDOUT  the delimiter did not come until @deadline_ns
 *           and as sley_stream_find()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK ssize_t
sley_stream_find_until(struct sley_stream *stream, const char **data,
		       const void *delimiter, size_t size,
		       uint64_t deadline_ns);

/*
 * sley_stream_find - look at the next bytes up to a delimiter.
 *
 * Waits until the delimiter, @size bytes, has come.  Returns the number of bytes
 * up to its end, and *@data points at the first of them, until the next call on
 * the stream.  sley_stream_consume() takes them.  0 at the end of the stream.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    *@data belongs to the stream; @delimiter is borrowed for the call.
 * Errors:   -EMSGSIZE   it is not among the next SLEY_STREAM_BUFFER bytes
 *           -ENODATA    the stream ended before it, in the middle of a message
 *           -EINVAL     @size is 0, or above SLEY_STREAM_BUFFER
 *           and as sley_stream_read(); the bytes in the buffer stay there
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline ssize_t
sley_stream_find(struct sley_stream *stream, const char **data,
		 const void *delimiter, size_t size)
{
	return sley_stream_find_until(stream, data, delimiter, size,
				      SLEY_FOREVER);
}

/* ---- buffers -------------------------------------------------------------- */

/*
 * sley_stream_borrow - borrow a buffer of the library.
 *
 * Returns SLEY_STREAM_BUFFER bytes that are aligned to a cache line and have any
 * contents.  They are for what a task needs while it works on one message: what it
 * keeps on its stack stays in memory while the task waits for the next message, but a
 * buffer that was given back serves other tasks.  A worker keeps some buffers, so
 * that borrowing costs a few instructions.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    the caller, until sley_stream_give_back()
 * Errors:   NULL: no memory
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS SLEY_MUST_CHECK void *
sley_stream_borrow(void);

/*
 * sley_stream_give_back - give a borrowed buffer back.
 *
 * Any thread may give it back, also another than the borrower.
 *
 * Context:  any thread
 * Blocks:   never
 * Owner:    the library
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_stream_give_back(void *buffer);

/* ---- write ---------------------------------------------------------------- */

/*
 * sley_stream_write_until - sley_stream_write() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @data is borrowed for the call.
 * Errors:   -ETIMEDOUT  nothing could be written until @deadline_ns
 *           and as sley_stream_write()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK ssize_t
sley_stream_write_until(struct sley_stream *stream, const void *data,
			size_t size, uint64_t deadline_ns);

/*
 * sley_stream_write - write @size bytes, all of them.
 *
 * Returns @size, when the connection has taken all bytes: the system has them, not
 * yet the peer.  On a corked stream bytes go to the buffer as long as they fit.
 * If the wait for room ends early, or the peer is gone, after some bytes were
 * written, the call returns their number; the next call returns the error.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @data is borrowed for the call.
 * Errors:   -EPIPE, -ECONNRESET  the peer is gone
 *           -ENOBUFS    the system has no memory for it now
 *           and as sley_io_write()
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline ssize_t
sley_stream_write(struct sley_stream *stream, const void *data, size_t size)
{
	return sley_stream_write_until(stream, data, size, SLEY_FOREVER);
}

/*
 * sley_stream_writev_until - sley_stream_writev() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @parts and the memory they name are borrowed for the call.
 * Errors:   -ETIMEDOUT  nothing could be written until @deadline_ns
 *           and as sley_stream_writev()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK ssize_t
sley_stream_writev_until(struct sley_stream *stream, const struct iovec *parts,
			 int nr, uint64_t deadline_ns);

/*
 * sley_stream_writev - sley_stream_write() of @nr parts of memory, one after the other.
 *
 * One system call, if the connection takes all.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Owner:    @parts and the memory they name are borrowed for the call.
 * Errors:   as sley_stream_write(); -EINVAL: @nr is negative, or above IOV_MAX
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline ssize_t
sley_stream_writev(struct sley_stream *stream, const struct iovec *parts,
		   int nr)
{
	return sley_stream_writev_until(stream, parts, nr, SLEY_FOREVER);
}

/*
 * sley_stream_cork - collect the writes that follow.
 *
 * They go out together when the buffer is full, and by sley_stream_flush() and
 * sley_stream_uncork().  Without memory for a buffer each write goes out by
 * itself.  A program that corks a stream and waits for an answer, and has not
 * flushed, waits for ever.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS void
sley_stream_cork(struct sley_stream *stream);

/*
 * sley_stream_flush_until - sley_stream_flush() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ETIMEDOUT  the rest stays in the buffer: flush again
 *           and as sley_stream_flush()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_stream_flush_until(struct sley_stream *stream, uint64_t deadline_ns);

/*
 * sley_stream_flush - write what a corked stream has collected.
 *
 * The stream stays corked.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   as sley_stream_write(); what was not written stays in the buffer
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline int
sley_stream_flush(struct sley_stream *stream)
{
	return sley_stream_flush_until(stream, SLEY_FOREVER);
}

/*
 * sley_stream_uncork_until - sley_stream_uncork() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ETIMEDOUT  the rest stays in the buffer: flush again
 *           and as sley_stream_uncork()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_stream_uncork_until(struct sley_stream *stream, uint64_t deadline_ns);

/*
 * sley_stream_uncork - write what was collected, and collect no more.
 *
 * The stream is not corked any more, also after an error.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   as sley_stream_flush()
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline int
sley_stream_uncork(struct sley_stream *stream)
{
	return sley_stream_uncork_until(stream, SLEY_FOREVER);
}

/*
 * sley_stream_sendfile_until - sley_stream_sendfile() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ETIMEDOUT  nothing could be written until @deadline_ns
 *           and as sley_stream_sendfile()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK ssize_t
sley_stream_sendfile_until(struct sley_stream *stream, int file, int64_t offset,
			   size_t size, uint64_t deadline_ns);

/*
 * sley_stream_sendfile - write a part of a file.
 *
 * From @offset on, up to @size bytes; fewer if the file ends before.  What was
 * collected goes out first.  The bytes do not go through the program, if the layer
 * of the stream has a descriptor: sendfile(2).  Otherwise they are read and
 * written.  The position of the open file does not change.
 *
 * If an error comes after some bytes were written, the call returns their number;
 * the next call returns the error.  Parts of the file that are not in memory are
 * read by a thread of <sley/blocking.h>.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   as sley_stream_write(), and as pread(2) and sendfile(2)
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline ssize_t
sley_stream_sendfile(struct sley_stream *stream, int file, int64_t offset,
		     size_t size)
{
	return sley_stream_sendfile_until(stream, file, offset, size,
					  SLEY_FOREVER);
}

/* ---- close ---------------------------------------------------------------- */

/*
 * sley_stream_shut_until - sley_stream_shut() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ETIMEDOUT  the collected bytes could not be written: nothing is ended
 *           and as sley_stream_shut()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK int
sley_stream_shut_until(struct sley_stream *stream, uint64_t deadline_ns);

/*
 * sley_stream_shut - write what was collected, and end the writing direction.
 *
 * The peer reads the end.  Reading goes on.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   as sley_stream_flush()
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER SLEY_MUST_CHECK static inline int
sley_stream_shut(struct sley_stream *stream)
{
	return sley_stream_shut_until(stream, SLEY_FOREVER);
}

/*
 * sley_stream_close_until - sley_stream_close() with a deadline.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   -ETIMEDOUT  collected bytes are lost
 *           and as sley_stream_close()
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER int
sley_stream_close_until(struct sley_stream *stream, uint64_t deadline_ns);

/*
 * sley_stream_close - close a stream: all that was written arrives.
 *
 * Writes what was collected, ends the writing direction, closes.  The stream is
 * closed in any case.  If the collected bytes cannot be written, the stream is
 * aborted: the peer sees a reset, and not an end in the middle.  A peer that still
 * sends may see a reset, too, and then loses what was written last: read to the
 * end before the close, if the peer may send.
 *
 * Context:  any thread
 * Blocks:   the fiber; a plain thread sleeps
 * Errors:   as sley_stream_flush(): collected bytes are lost
 */
SLEY_ANY_THREAD SLEY_BLOCKS_FIBER static inline int
sley_stream_close(struct sley_stream *stream)
{
	return sley_stream_close_until(stream, SLEY_FOREVER);
}

/*
 * sley_stream_abort - close a stream at once.
 *
 * What was collected is dropped, and so is what the system has not sent yet.  A
 * TCP peer sees a reset.
 *
 * Context:  any thread
 * Blocks:   the fiber, for a short time; a plain thread sleeps
 * Errors:   none
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_BLOCKS_FIBER void
sley_stream_abort(struct sley_stream *stream);

/*
 * sley_stream_fd - the descriptor below a stream.
 *
 * For options and names of sockets.  It is closed by sley_stream_close() alone.
 *
 * Context:  any thread
 * Blocks:   never
 * Errors:   none; -1 if the layer has no descriptor
 */
SLEY_EXPORT SLEY_ANY_THREAD SLEY_NEVER_BLOCKS int
sley_stream_fd(const struct sley_stream *stream);

SLEY_END_DECLS
#endif
