/* SPDX-License-Identifier: MIT */
/*
 * shared.c - a count in front of an object.
 *
 * Edges:
 *
 *   F1  unref drops a reference -> the last one frees it : what each did
 */
#include "core/worker.h"

#include <sley/shared.h>

struct header {
	uint64_t refs;
	size_t size; /* of the object */
	sley_fn *last;
};

#define HEADER_SIZE 32
_Static_assert(sizeof(struct header) <= HEADER_SIZE, "aligned to 16");

static struct header *header_of(void *object)
{
	return (struct header *)(void *)((char *)object - HEADER_SIZE);
}

void *sley_shared_create(size_t size, sley_fn *last)
{
	struct header *header;
	struct mem mem;

	if (size == 0 || size > SIZE_MAX - HEADER_SIZE)
		return NULL;
	mem_init(&mem, NULL);
	header = mem_alloc(&mem, HEADER_SIZE + size);
	if (!header)
		return NULL;
	*header = (struct header){ .refs = 1, .size = size, .last = last };
	return (char *)header + HEADER_SIZE;
}

void *sley_shared_ref(void *object)
{
	uint64_t refs;

	if (!object)
		return NULL;
	/* relaxed: the caller may use it, so somebody holds a reference. */
	refs = add_relaxed(&header_of(object)->refs, 1);
	sley_check(refs, "hold shared memory only while somebody holds it");
	return object;
}

void sley_shared_unref(void *object)
{
	struct header *header;
	uint64_t refs;
	struct mem mem;

	if (!object)
		return;
	header = header_of(object);
	refs = sub_acq_rel(&header->refs, 1); /* F1 */
	sley_check(refs, "drop shared memory once for each reference to it");
	if (refs != 1)
		return;
	if (header->last)
		header->last(object);
	mem_init(&mem, NULL);
	mem_free(&mem, header, HEADER_SIZE + header->size);
}
