/* SPDX-License-Identifier: MIT */
/*
 * blob.h - bytes that several messages share.
 */
#ifndef SLEY_ACTOR_MAIL_BLOB_H
#define SLEY_ACTOR_MAIL_BLOB_H

#include <sley/message.h>

struct sley_blob {
	uint32_t refs;
	uint32_t size;
	uint64_t reserved;
	unsigned char bytes[];
};

void blob_get(struct sley_blob *blob);

#endif
