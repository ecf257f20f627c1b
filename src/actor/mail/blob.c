/* SPDX-License-Identifier: MIT */
/*
 * blob.c - see blob.h and <sley/message.h>.
 *
 * Edges:
 *
 *   BL1  a reference is given up -> the last reference frees the blob : all users
 *       are done
 */
#include "actor/mail/blob.h"

#include "base/atomic.h"
#include "mem/alloc.h"

static size_t blob_size(size_t size)
{
	return sizeof(struct sley_blob) + size;
}

struct sley_blob *sley_blob_create(size_t size)
{
	struct sley_blob *blob;

	if (size > UINT32_MAX)
		return NULL;
	blob = mem_alloc(&sley__program_mem, blob_size(size));
	if (!blob)
		return NULL;
	blob->refs = 1;
	blob->size = (uint32_t)size;
	return blob;
}

void *sley_blob_data(struct sley_blob *blob)
{
	return blob->bytes;
}

void blob_get(struct sley_blob *blob)
{
	/* relaxed: the caller has a reference. */
	(void)add_relaxed(&blob->refs, 1);
}

void sley_blob_put(struct sley_blob *blob)
{
	if (sub_acq_rel(&blob->refs, 1) == 1) /* BL1 */
		mem_free(&sley__program_mem, blob, blob_size(blob->size));
}
