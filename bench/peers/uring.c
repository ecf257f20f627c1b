/* SPDX-License-Identifier: MIT */
/*
 * uring.c - the reference `uring`: a loop by hand over io_uring, system calls only.
 *
 * io-accept  multishot accept: one submission for all connections, and each call of the
 *            kernel brings as many as have come.  Each is closed by close().
 *
 * The ring has one owner, and completions are made when the owner waits: the flags that
 * suit such a loop best, where the kernel has them.
 */
#include "../problems/arrivals.h"

#include <errno.h>
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define RING_ENTRIES 8
#define RING_COMPLETIONS 256

struct ring {
	int fd;
	unsigned int to_submit;
	char *memory;
	size_t size, entries_size;
	struct io_uring_params params;
	struct io_uring_sqe *entries;
};

static unsigned int *ring_word(const struct ring *ring, unsigned int offset)
{
	return (unsigned int *)(void *)(ring->memory + offset);
}

static int ring_setup(struct io_uring_params *params, unsigned int flags)
{
	*params =
		(struct io_uring_params){ .flags = flags | IORING_SETUP_CQSIZE,
					  .cq_entries = RING_COMPLETIONS };
	return (int)syscall(SYS_io_uring_setup, RING_ENTRIES, params);
}

/* Ends the program where the kernel or the machine does not have a ring. */
static void ring_open(struct ring *ring, const struct measure *m)
{
	struct io_uring_params *params = &ring->params;

	ring->to_submit = 0;
	ring->fd = ring_setup(params, IORING_SETUP_SINGLE_ISSUER |
					      IORING_SETUP_DEFER_TASKRUN);
	if (ring->fd < 0 && errno == EINVAL)
		ring->fd = ring_setup(params, 0);
	if (ring->fd < 0 || !(params->features & IORING_FEAT_SINGLE_MMAP)) {
		fprintf(stderr, "%s: uring: io_uring_setup: %s\n", m->row,
			ring->fd < 0 ? strerror(errno) : "too old");
		exit(MEASURE_SKIP);
	}
	/* The array of the submissions comes behind the completions. */
	ring->size = params->sq_off.array +
		     params->sq_entries * sizeof(unsigned int);
	ring->entries_size = params->sq_entries * sizeof(*ring->entries);
	ring->memory = mmap(NULL, ring->size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_POPULATE, ring->fd,
			    IORING_OFF_SQ_RING);
	ring->entries = mmap(NULL, ring->entries_size, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_POPULATE, ring->fd,
			     IORING_OFF_SQES);
	MEASURE_CHECK(m, ring->memory != MAP_FAILED &&
				 ring->entries != MAP_FAILED);
}

static void ring_close(struct ring *ring)
{
	munmap(ring->entries, ring->entries_size);
	munmap(ring->memory, ring->size);
	close(ring->fd);
}

static void ring_accept(struct ring *ring, int listener)
{
	unsigned int *tail = ring_word(ring, ring->params.sq_off.tail);
	unsigned int mask = *ring_word(ring, ring->params.sq_off.ring_mask);
	unsigned int at = *tail & mask;

	ring->entries[at] = (struct io_uring_sqe){
		.opcode = IORING_OP_ACCEPT,
		.fd = listener,
		.ioprio = IORING_ACCEPT_MULTISHOT,
		.accept_flags = SOCK_NONBLOCK | SOCK_CLOEXEC,
	};
	ring_word(ring, ring->params.sq_off.array)[at] = at;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	ring->to_submit = 1;
}

static void ring_wait(struct ring *ring, const struct measure *m)
{
	long nr = syscall(SYS_io_uring_enter, ring->fd, ring->to_submit, 1,
			  IORING_ENTER_GETEVENTS, NULL, 0);

	MEASURE_CHECK(m, nr >= 0 || errno == EINTR);
	if (nr > 0)
		ring->to_submit = 0;
}

/* Copies a completion; false if there is none. */
static bool ring_take(struct ring *ring, struct io_uring_cqe *cqe)
{
	const struct io_cqring_offsets *at = &ring->params.cq_off;
	unsigned int *head = ring_word(ring, at->head);
	unsigned int mask = *ring_word(ring, at->ring_mask);
	const struct io_uring_cqe *cqes =
		(const void *)ring_word(ring, at->cqes);

	if (*head ==
	    __atomic_load_n(ring_word(ring, at->tail), __ATOMIC_ACQUIRE))
		return false;
	memcpy(cqe, &cqes[*head & mask], sizeof(*cqe));
	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	return true;
}

static void serve_arrivals(const struct arrivals *arrivals)
{
	uint64_t left = arrivals->nr;
	struct ring ring;

	ring_open(&ring, arrivals->m);
	ring_accept(&ring, arrivals->listener);
	while (left) {
		struct io_uring_cqe cqe;

		ring_wait(&ring, arrivals->m);
		while (ring_take(&ring, &cqe)) {
			MEASURE_CHECK(arrivals->m, cqe.res >= 0);
			close(cqe.res);
			left--;
			if (!(cqe.flags & IORING_CQE_F_MORE))
				ring_accept(&ring, arrivals->listener);
		}
	}
	ring_close(&ring);
}

static void run_accept(const struct measure *m)
{
	struct ring ring;

	ring_open(&ring, m); /* a machine without: before the client starts */
	ring_close(&ring);
	arrivals_peer(m, serve_arrivals);
}

int main(int argc, char **argv)
{
	static const struct measure_row rows[] = {
		{ "io-accept", run_accept },
	};

	return measure_main(argc, argv, rows, sizeof(rows) / sizeof(rows[0]));
}
