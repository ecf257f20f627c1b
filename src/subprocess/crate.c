/* SPDX-License-Identifier: MIT */
/*
 * crate.c - see crate.h.
 */
#include "subprocess/crate.h"

#include "base/assert.h"
#include "mem/alloc.h"
#include "os/shared_memory.h"

#include <errno.h>

int crates_open(struct crates *crates)
{
	uint64_t size = os_shared_memory_max(CRATES_MAX);
	int file;

	size -= size % CRATE_UNIT;
	file = os_shared_memory_create("sley-crates", size);
	if (file < 0)
		return file;
	crates->file = file;
	crates->size = size;
	return 0;
}

void crates_close(struct crates *crates)
{
	os_close(crates->file);
}

/* ---- ranges ------------------------------------------------------------------------- */

/* Whole units; the sizes were compared with that of the file, so nothing wraps. */
static uint64_t size_of(const struct crate *crate)
{
	uint64_t size = crate_result_at(crate) + crate->room;

	return (size + CRATE_UNIT - 1) / CRATE_UNIT * CRATE_UNIT;
}

int crate_make(const struct crates *crates, struct crate **out,
	       uint64_t arg_size, uint64_t room)
{
	struct crate crate = { .arg_size = arg_size, .room = room };

	if (arg_size > crates->size || room > crates->size)
		return -EMSGSIZE;
	crate.size = size_of(&crate);
	/* The first unit is never used. */
	if (crate.size + CRATE_UNIT > crates->size)
		return -EMSGSIZE;
	*out = mem_alloc(&sley__program_mem, sizeof(crate));
	if (!*out)
		return -ENOMEM;
	**out = crate;
	return 0;
}

void crate_free(struct crate *crate)
{
	mem_free(&sley__program_mem, crate, sizeof(*crate));
}

int crates_take(struct crates *crates, struct crate *crate)
{
	struct crate **at = &crates->first;
	uint64_t begin = CRATE_UNIT;

	while (*at && (*at)->begin - begin < crate->size) {
		begin = (*at)->begin + (*at)->size;
		at = &(*at)->next;
	}
	if (crates->size - begin < crate->size)
		return -ENOMEM;
	crate->begin = begin;
	crate->next = *at;
	*at = crate;
	return 0;
}

void crates_remove(struct crates *crates, struct crate *crate)
{
	struct crate **at = &crates->first;

	while (*at != crate)
		at = &(*at)->next;
	*at = crate->next;
}

/* ---- bytes -------------------------------------------------------------------------- */

int crate_write(const struct crates *crates, const struct crate *crate,
		uint64_t offset, const void *data, size_t size)
{
	sley_assert(offset + size <= crate->size);
	return os_shared_memory_write(crates->file, data, size,
				      crate->begin + offset);
}

int crate_read_result(const struct crates *crates, const struct crate *crate,
		      void *data, size_t size)
{
	sley_assert(size <= crate->room);
	return os_shared_memory_read(crates->file, data, size,
				     crate_result_at(crate));
}

void crate_discard(const struct crates *crates, const struct crate *crate)
{
	uint64_t end = crate->begin + crate->size;
	uint64_t from = crate->begin > CRATES_KEPT ? crate->begin : CRATES_KEPT;

	if (end > from)
		os_shared_memory_discard(crates->file, from, end - from);
}
