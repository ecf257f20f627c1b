/* SPDX-License-Identifier: MIT */
/*
 * handler.c - see handler.h.
 */
#include "actor/command/handler.h"

#include "base/atomic.h"
#include "base/options.h"
#include "lf/spin.h"
#include "mem/table.h"
#include "os/at_fork.h"

#include <errno.h>

#define CHUNK_LENGTH 256u
#define CHUNKS ((SLEY_COMMAND_MAX + 1) / CHUNK_LENGTH)

struct place {
	uint64_t version;
	uintptr_t fn, arg; /* as numbers: they are read while they change */
	uint64_t timeout_ns;
};

static struct spinlock lock; /* for changes */
static void *chunks[CHUNKS];

static const struct table table = {
	.chunk = chunks,
	.max_chunks = CHUNKS,
	.length = CHUNK_LENGTH,
	.place_size = sizeof(struct place),
};

_Static_assert(CHUNKS *CHUNK_LENGTH == SLEY_COMMAND_MAX + 1,
	       "a place for each command, and no more");

static void lock_handlers(void)
{
	spin_lock(&lock);
}

static void unlock_handlers(void)
{
	spin_unlock(&lock);
}

FORK_PART(FORK_HANDLERS, .lock = lock_handlers, .unlock = unlock_handlers);

bool handler_find(uint32_t command, struct handler *out)
{
	struct place *place = table_find(&table, command);
	uint64_t version;

	if (!place)
		return false;
	version = load_acquire(&place->version); /* H1 */
	if (!(version & 1))
		return false;
	out->fn = (sley_handler *)load_acquire(&place->fn); /* H2 */
	out->arg = (void *)load_acquire(&place->arg);       /* H2 */
	out->timeout_ns = load_acquire(&place->timeout_ns); /* H2 */
	/* relaxed: by H2 not older than the fields that were read. */
	return load_relaxed(&place->version) == version;
}

/* Locked; there is no handler. */
static void write_place(struct place *place, const struct handler *handler)
{
	/* relaxed: written under the lock only. */
	uint64_t version = load_relaxed(&place->version);

	store_release(&place->fn, (uintptr_t)handler->fn);      /* H2 */
	store_release(&place->arg, (uintptr_t)handler->arg);    /* H2 */
	store_release(&place->timeout_ns, handler->timeout_ns); /* H2 */
	store_release(&place->version, version + 1);            /* H1 */
}

/* Locked. */
static bool is_taken(const struct place *place)
{
	/* relaxed: written under the lock only. */
	return load_relaxed(&place->version) & 1;
}

int sley_command_handle(uint32_t command, sley_handler *handler, void *arg,
			const struct sley_handler_options *options)
{
	struct sley_handler_options copy;
	struct place *place;
	int err = options_take(&copy, options);

	if (err)
		return err;
	if (command > SLEY_COMMAND_MAX || !handler)
		return -EINVAL;
	err = table_make(&table, command);
	if (err)
		return err;
	place = table_find(&table, command);
	spin_lock(&lock);
	if (is_taken(place))
		err = -EEXIST;
	else
		write_place(place,
			    &(struct handler){ handler, arg, copy.timeout_ns });
	spin_unlock(&lock);
	return err;
}

int sley_command_unhandle(uint32_t command)
{
	struct place *place = table_find(&table, command);
	int err = -ENOENT;

	if (!place)
		return err;
	spin_lock(&lock);
	if (is_taken(place)) {
		/* relaxed: a reader that still finds it odd was earlier; and H2. */
		store_relaxed(&place->version, place->version + 1);
		err = 0;
	}
	spin_unlock(&lock);
	return err;
}
