/* SPDX-License-Identifier: MIT */
/*
 * splice.c - <sley/io_file.h>: bytes from one descriptor to another, which do not pass
 * through memory of the program.
 *
 * A file may have to be read from the disk first.  So a piece that is not in the page
 * cache is sent elsewhere (io/file.h), and a piece that is there is sent in place.
 *
 * splice(2) says -EAGAIN without saying which of the two has to be waited for.  The
 * caller looks at both sides before it tries, then asks which of the two is not ready,
 * and waits for that: an edge that came after the look ends the wait (io/ready.h).
 */
#include <sley/io_file.h>

#include "core/sched/worker.h"
#include "core/wait/wait.h"
#include "io/call.h"
#include "io/file.h"
#include "io/ready.h"

#include <fcntl.h>
#include <poll.h>

/* A piece: large enough that two looks at the page cache do not matter. */
#define PIECE ((size_t)128 << 10)

/* ---- sendfile ------------------------------------------------------------------------- */

struct send_call {
	struct io_call call; /* on the socket */
	int from;
	off_t *offset;
};

static ssize_t send_piece(const struct send_call *send)
{
	size_t left = send->call.size - send->call.done;
	const struct os_file_call file = {
		.kind = OS_FILE_SENDFILE,
		.fd = send->from,
		.fd_offset = send->offset,
		.to_fd = send->call.fd,
		.size = left < PIECE ? left : PIECE,
	};

	if (!file.size || (send->offset && worker_current() &&
			   file_is_cached(file.fd, *send->offset, file.size)))
		return os_file_call(&file);
	return file_run(&file, send->call.deadline_ns);
}

static ssize_t send_all(struct io_call *call)
{
	struct send_call *send = container_of(call, struct send_call, call);

	do {
		ssize_t n = send_piece(send);

		if (n < 0)
			return n;
		if (n == 0)
			break;
		call->done += (size_t)n;
	} while (call->done < call->size);
	return (ssize_t)call->done;
}

static ssize_t attempt_send(struct io_call *call)
{
	int err = io_call_become_nonblocking(call);

	return err ? err : send_all(call);
}

ssize_t sley_io_sendfile_until(int to, int from, off_t *offset, size_t size,
			       uint64_t deadline_ns)
{
	struct send_call send = {
		.call = { .fd = to,
			  .direction = IO_OUT,
			  .deadline_ns = deadline_ns,
			  .tries_first = true,
			  .attempt = attempt_send,
			  .on_file = send_all,
			  .size = size },
		.from = from,
		.offset = offset,
	};
	struct io_descriptor *descriptor;
	ssize_t result;

	if (offset && *offset < 0)
		return -EINVAL;
	result = descriptor_enter(from, &descriptor);
	if (result)
		return result;
	result = io_call(&send.call);
	descriptor_leave(descriptor);
	return result;
}

/* ---- splice ---------------------------------------------------------------------------- */

/* One of the two descriptors of a splice. */
struct end {
	int fd;
	enum io_direction direction;
	struct io_descriptor *descriptor;
	struct side_look look;
};

static bool is_file(const struct end *end)
{
	uint32_t traits = descriptor_traits(end->descriptor, end->fd);

	return traits_kind(traits) == OS_FD_FILE;
}

/* SPLICE_F_NONBLOCK is for pipes alone. */
static int prepare(const struct end *end)
{
	uint32_t traits = descriptor_traits(end->descriptor, end->fd);
	enum os_fd_kind kind = traits_kind(traits);

	if ((kind != OS_FD_TCP && kind != OS_FD_SOCKET) ||
	    traits & TRAIT_NONBLOCKING)
		return 0;
	descriptor_add_traits(end->descriptor, TRAIT_NONBLOCKING);
	return os_fd_set_nonblocking(end->fd);
}

static bool is_ready(const struct end *end)
{
	return os_fd_poll(end->fd, end->direction == IO_IN ? POLLIN : POLLOUT);
}

static void look_at(struct end *end)
{
	end->look = side_look(&end->descriptor->side[end->direction]);
}

static int wait_for(const struct end *end, uint64_t deadline_ns)
{
	return ready_wait(end->descriptor, end->fd, end->direction, &end->look,
			  deadline_ns);
}

/*
 * A wait for one of them has ended, or both are ready by now: 0, try again.  Ends may be
 * ready, and still refuse the bytes: so a deadline and a cancel count here, too.
 */
static int wait_for_one(const struct end *from, const struct end *to,
			uint64_t deadline_ns)
{
	if (!is_ready(from))
		return wait_for(from, deadline_ns);
	if (!is_ready(to))
		return wait_for(to, deadline_ns);
	io_give_way();
	return wait_refused_slow(deadline_ns, 0);
}

static ssize_t splice_ends(const struct os_file_call *file, struct end *from,
			   struct end *to, uint64_t deadline_ns)
{
	bool on_disk = is_file(from) || is_file(to);
	ssize_t n = prepare(from) ?: prepare(to);

	while (!n) {
		look_at(from);
		look_at(to);
		n = on_disk ? file_run(file, deadline_ns) : os_file_call(file);
		if (n != -EAGAIN)
			break;
		n = wait_for_one(from, to, deadline_ns);
	}
	return n;
}

ssize_t sley_io_splice_until(int from, off_t *from_offset, int to,
			     off_t *to_offset, size_t size,
			     uint64_t deadline_ns)
{
	const struct os_file_call file = {
		.kind = OS_FILE_SPLICE,
		.fd = from,
		.fd_offset = from_offset,
		.to_fd = to,
		.to_offset = to_offset,
		.size = size,
		.flags = SPLICE_F_NONBLOCK,
	};
	struct end in = { .fd = from, .direction = IO_IN };
	struct end out = { .fd = to, .direction = IO_OUT };
	ssize_t result = descriptor_enter(from, &in.descriptor);

	if (result)
		return result;
	result = descriptor_enter(to, &out.descriptor);
	if (!result) {
		result = splice_ends(&file, &in, &out, deadline_ns);
		descriptor_leave(out.descriptor);
	}
	descriptor_leave(in.descriptor);
	if (result >= 0)
		io_give_way();
	return result;
}
