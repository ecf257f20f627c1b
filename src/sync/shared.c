/* SPDX-License-Identifier: MIT */
/*
 * shared.c - memory with a count of references in front of it.
 *
 * Edges:
 *
 *   SH1  unref drops a reference -> the last unref frees the object : all uses of it
 */
#include "core/sched/worker.h"

#include <sley/shared.h>

struct header {
	uint64_t refs;
	size_t size; /* of the object */
	sley_fn *last;
	size_t lead; /* from the beginning of the memory to the object */
};

#define HEADER_SIZE 32
_Static_assert(sizeof(struct header) <= HEADER_SIZE, "aligned to 16");

static struct header *header_of(void *object)
{
	return (struct header *)(void *)((char *)object - HEADER_SIZE);
}

void *sley_shared_create_aligned(size_t size, size_t align, sley_fn *last)
{
	size_t lead = align > HEADER_SIZE ? align : HEADER_SIZE;
	struct header *header;
	struct mem mem;
	char *memory;

	if (!align || align > SLEY_SHARED_ALIGN_MAX || (align & (align - 1)))
		return NULL;
	if (size == 0 || size > SIZE_MAX - lead)
		return NULL;
	mem_init(&mem, NULL);
	memory = mem_alloc_aligned(&mem, lead + size,
				   align > CACHE_LINE ? align : CACHE_LINE);
	if (!memory)
		return NULL;
	header = header_of(memory + lead);
	*header = (struct header){
		.refs = 1,
		.size = size,
		.last = last,
		.lead = lead,
	};
	return memory + lead;
}

void *sley_shared_create(size_t size, sley_fn *last)
{
	return sley_shared_create_aligned(size, 1, last);
}

void *sley_shared_ref(void *object)
{
	uint64_t refs;

	if (!object)
		return NULL;
	/* relaxed: the caller may use the object, so there is a reference. */
	refs = add_relaxed(&header_of(object)->refs, 1);
	sley_check(
		refs,
		"the memory has no reference any more: take one while another "
		"is held");
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
	refs = sub_acq_rel(&header->refs, 1); /* SH1 */
	sley_check(refs, "the memory was dropped before: drop it once for each "
			 "reference");
	if (refs != 1)
		return;
	if (header->last)
		header->last(object);
	mem_init(&mem, NULL);
	mem_free(&mem, (char *)object - header->lead,
		 header->lead + header->size);
}
