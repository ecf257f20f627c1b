/* SPDX-License-Identifier: MIT */
/*
 * resolve.c - <sley/address.h>: names are looked up, until a deadline.
 *
 * getaddrinfo(3) holds its thread and cannot be ended.  So a thread of the pool of
 * blocking calls makes the call, and the asking task waits beside it.  The question and
 * the answer are in memory that both share, and the last of the two frees it:
 *
 *   asker                                 thread
 *   1. posts the look-up, with 2 users    1. looks up, writes the answer
 *   2. waits until it is answered         2. answered
 *      a. answered: copies the answer     3. users - 1 (RV1); the last frees
 *      b. too long: takes it back, if it
 *         has not begun: frees
 *   3. users - 1 (RV1); the last frees
 *
 * The runtime waits for its threads when it ends, so the memory is of the runtime.
 *
 * Edges:
 *
 *   RV1  a user leaves -> the last user frees : all that the other did
 *
 * Rejected: sley_blocking_call(), which waits for the end of a call that has begun; a
 * task for the look-up (a stack, and the same protocol); a resolver of our own (what
 * /etc/nsswitch.conf says would not hold).
 */
#include "stream/address.h"

#include "base/atomic.h"
#include "core/sched/worker.h"
#include "core/task/countdown.h"
#include "core/wait/blocking.h"
#include "core/wait/wait.h"
#include "mem/alloc.h"
#include "os/network.h"

#include <errno.h>
#include <string.h>

#define FOUND_MAX 16

struct lookup {
	struct blocking_job job;
	struct mem *mem;
	struct sley_waitq answered; /* counts down from one */
	uint32_t users;
	struct address_parts parts;
	int result; /* of the look-up, or the number of addresses */
	int nr;
	struct sley_address found[FOUND_MAX];
};

/* ---- one look-up, on any thread ----------------------------------------------------------- */

static bool add(void *arg, const struct sockaddr *address, socklen_t length)
{
	struct lookup *lookup = arg;
	struct sley_address *to = &lookup->found[lookup->nr];

	if (length > sizeof(to->storage))
		return true;
	*to = (struct sley_address){ .length = length };
	memcpy(&to->storage, address, length);
	lookup->nr++;
	return lookup->nr < FOUND_MAX;
}

static void look_up(struct lookup *lookup)
{
	int err =
		os_resolve(lookup->parts.host, lookup->parts.port, add, lookup);

	if (err)
		lookup->result = err;
	else
		lookup->result = lookup->nr ? lookup->nr : -ENOENT;
}

static void leave(struct lookup *lookup)
{
	if (sub_acq_rel(&lookup->users, 1) == 1) /* RV1 */
		mem_free(lookup->mem, lookup, sizeof(*lookup));
}

static void run(struct blocking_job *job, struct blocking_thread *thread)
{
	struct lookup *lookup = container_of(job, struct lookup, job);

	look_up(lookup);
	blocking_job_ends(thread);
	(void)countdown_done(&lookup->answered);
	leave(lookup);
}

/* ---- the asker -------------------------------------------------------------------------- */

static int await(struct blocking *pool, struct lookup *lookup,
		 uint64_t deadline_ns)
{
	int err = blocking_reserve(pool, true);

	if (err < 0)
		return err;
	lookup->users = 2;
	blocking_post(pool, &lookup->job);
	err = countdown_wait(&lookup->answered, deadline_ns, 0);
	if (err && blocking_take_back(pool, &lookup->job))
		leave(lookup); /* in place of the thread */
	return err;
}

static int give(const struct lookup *lookup, struct sley_address *addresses,
		int nr)
{
	if (lookup->result < nr)
		nr = lookup->result;
	for (int i = 0; i < nr; i++)
		addresses[i] = lookup->found[i];
	return nr;
}

static int resolve(struct sley_address *addresses, int nr, const char *text,
		   uint64_t deadline_ns)
{
	struct worker *worker = worker_current();
	struct mem *mem = worker ? &worker->rt->mem : &sley__program_mem;
	struct lookup *lookup;
	int err = wait_refused(deadline_ns);

	if (err)
		return err;
	lookup = mem_alloc(mem, sizeof(*lookup));
	if (!lookup)
		return -ENOMEM;
	lookup->mem = mem;
	lookup->users = 1;
	lookup->job.run = run;
	countdown_add(&lookup->answered, 1);
	err = address_split(&lookup->parts, text);
	if (!err && worker)
		err = await(&worker->rt->blocking, lookup, deadline_ns);
	else if (!err)
		look_up(lookup);
	if (!err)
		err = give(lookup, addresses, nr);
	leave(lookup);
	return err;
}

int sley_address_resolve_until(struct sley_address *addresses, int nr,
			       const char *text, uint64_t deadline_ns)
{
	struct sley_address address;
	int err = sley_address_parse(&address, text);

	if (nr < 1)
		return -EINVAL;
	if (err == -ENOENT)
		return resolve(addresses, nr, text, deadline_ns);
	if (err)
		return err;
	addresses[0] = address;
	return 1;
}
