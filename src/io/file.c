/* SPDX-License-Identifier: MIT */
/*
 * file.c - see file.h.
 */
#include "io/file.h"

#include "core/sched/worker.h"
#include "core/wait/blocking.h"
#include "io/parts.h"
#include "io/ring.h"
#include "os/map.h"

/* ---- elsewhere ------------------------------------------------------------------------ */

struct pool_call {
	const struct os_file_call *file;
	ssize_t result;
};

static void run_in_pool(void *arg)
{
	struct pool_call *call = arg;

	call->result = os_file_call(call->file);
}

static ssize_t run_in_thread(struct worker *worker,
			     const struct os_file_call *file,
			     uint64_t deadline_ns, enum wait_flags flags)
{
	struct pool_call call = { .file = file };
	const struct blocking_work work = {
		.fn = run_in_pool,
		.arg = &call,
		.strand = worker->strand,
		.flags = flags,
	};
	int err = blocking_call(&worker->rt->blocking, &work, deadline_ns);

	if (!err)
		return call.result;
	if (err == -ETIMEDOUT || err == -ECANCELED)
		return err;
	return os_file_call(file);
}

static ssize_t run_for_task(struct worker *worker,
			    const struct os_file_call *file,
			    uint64_t deadline_ns, enum wait_flags flags)
{
	struct ring_calls *ring = ring_of(worker->rt);
	ssize_t result;
	int err = ring ? ring_call(ring, file, deadline_ns, flags, &result)
		       : RING_REFUSES;

	if (err == RING_REFUSES)
		return run_in_thread(worker_now(), file, deadline_ns, flags);
	return err ? err : result;
}

ssize_t file_run(const struct os_file_call *file, uint64_t deadline_ns)
{
	struct worker *worker = worker_current();

	return worker ? run_for_task(worker, file, deadline_ns, 0)
		      : os_file_call(file);
}

int file_close(int fd, uint32_t traits)
{
	const struct os_file_call file = { .kind = OS_FILE_CLOSE, .fd = fd };
	struct worker *worker = worker_current();

	if (!worker || traits == TRAIT_OPENED_TO_READ)
		return (int)os_file_call(&file);
	/* A socket that no call has used, such as one that was just accepted. */
	if (!traits && !os_fd_is_file(fd))
		return (int)os_file_call(&file);
	if (!(traits & TRAIT_KNOWN)) {
		struct os_fd_traits found = os_fd_traits(fd);

		traits = (uint32_t)found.kind |
			 (found.writable ? TRAIT_WRITABLE : 0);
	}
	if (traits_kind(traits) != OS_FD_FILE || !(traits & TRAIT_WRITABLE))
		return (int)os_file_call(&file);
	return (int)run_for_task(worker, &file, UINT64_MAX, WAIT_SHIELDED);
}

int file_close_slowly(int fd)
{
	const struct os_file_call file = { .kind = OS_FILE_CLOSE, .fd = fd };
	struct worker *worker = worker_current();

	return (int)(worker ? run_in_thread(worker, &file, UINT64_MAX,
					    WAIT_SHIELDED)
			    : os_file_call(&file));
}

/* ---- bytes ------------------------------------------------------------------------------ */

/* A read or write that was not done at the first try. */
struct rest {
	struct io_call *call;
	enum os_file_kind kind;
	uint32_t no_try; /* the trait */
	int64_t offset;
	struct parts parts;
};

static size_t window_size(const struct parts *parts)
{
	size_t size = 0;

	for (size_t i = 0; i < parts->nr_window; i++)
		size += parts->window[i].iov_len;
	return size;
}

static ssize_t try_window(const struct rest *rest)
{
	const struct parts *parts = &rest->parts;
	int fd = rest->call->fd, nr = (int)parts->nr_window;

	if (!worker_current() || rest->call->traits & rest->no_try)
		return -EAGAIN;
	return rest->kind == OS_FILE_READ
		       ? os_try_preadv(fd, parts->window, nr, rest->offset)
		       : os_try_pwritev(fd, parts->window, nr, rest->offset);
}

/* The first time all parts at once: a write is one write, if the kernel can. */
static ssize_t run_window(const struct rest *rest, size_t *asked)
{
	const struct io_call *call = rest->call;
	const struct parts *parts = &rest->parts;
	struct os_file_call file = {
		.kind = rest->kind,
		.fd = call->fd,
		.part = parts->window,
		.nr = (int)parts->nr_window,
		.offset = rest->offset,
	};

	if (!call->done) {
		file.part = parts->part;
		file.nr = (int)parts->nr;
		*asked = call->size;
	}
	return file_run(&file, call->deadline_ns);
}

/* @n is what the first try returned. */
static ssize_t go_on(struct rest *rest, ssize_t n)
{
	struct io_call *call = rest->call;
	struct parts *parts = &rest->parts;

	for (;;) {
		size_t asked = window_size(parts);
		bool ended = false;

		if (n == -EOPNOTSUPP)
			descriptor_add_traits(call->descriptor, rest->no_try);
		if (n == -EAGAIN || n == -EOPNOTSUPP) {
			n = run_window(rest, &asked);
			/* A read that is not tried is short at the end only. */
			ended = n < (ssize_t)asked &&
				rest->kind == OS_FILE_READ;
		}
		if (n < 0)
			return n;
		parts_advance(parts, (size_t)n);
		call->done += (size_t)n;
		if (!n || ended || call->done >= call->size)
			return (ssize_t)call->done;
		if (rest->offset >= 0)
			rest->offset += n;
		parts_window(parts, SIZE_MAX);
		n = try_window(rest);
	}
}

static ssize_t after_try(struct rest *rest, const struct iovec *part, int nr,
			 ssize_t n)
{
	size_t size;
	int err = parts_init(&rest->parts, part, nr, &size);

	if (err)
		return err;
	parts_window(&rest->parts, SIZE_MAX);
	return go_on(rest, n);
}

static noinline ssize_t read_rest(struct io_call *call,
				  const struct iovec *part, int nr,
				  int64_t offset, ssize_t n)
{
	struct rest rest = { .call = call,
			     .kind = OS_FILE_READ,
			     .no_try = TRAIT_NO_TRY_READ,
			     .offset = offset };

	return after_try(&rest, part, nr, n);
}

static noinline ssize_t write_rest(struct io_call *call,
				   const struct iovec *part, int nr,
				   int64_t offset, ssize_t n)
{
	struct rest rest = { .call = call,
			     .kind = OS_FILE_WRITE,
			     .no_try = TRAIT_NO_TRY_WRITE,
			     .offset = offset };

	return after_try(&rest, part, nr, n);
}

ssize_t file_readv(struct io_call *call, const struct iovec *part, int nr,
		   int64_t offset)
{
	ssize_t n = -EAGAIN;

	if (likely(worker_current() && !(call->traits & TRAIT_NO_TRY_READ)))
		n = os_try_preadv(call->fd, part, nr, offset);
	if (likely(n == (ssize_t)call->size))
		return n;
	return read_rest(call, part, nr, offset, n);
}

ssize_t file_writev(struct io_call *call, const struct iovec *part, int nr,
		    int64_t offset)
{
	ssize_t n = -EAGAIN;

	if (likely(worker_current() && !(call->traits & TRAIT_NO_TRY_WRITE)))
		n = os_try_pwritev(call->fd, part, nr, offset);
	if (n == (ssize_t)call->size)
		return n;
	return write_rest(call, part, nr, offset, n);
}

static bool byte_is_cached(int fd, int64_t offset)
{
	char byte;

	return os_try_preadv(fd, &(struct iovec){ &byte, 1 }, 1, offset) >= 0;
}

bool file_is_cached(int fd, int64_t offset, size_t size)
{
	int64_t last = offset + (int64_t)size - 1;
	int64_t page = (int64_t)os_page_size();

	return byte_is_cached(fd, offset) &&
	       (offset / page == last / page || byte_is_cached(fd, last));
}
