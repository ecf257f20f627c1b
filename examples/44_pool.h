/* SPDX-License-Identifier: MIT */
/*
 * 44_pool.h - a module: a container keeps keys and their values, both numbers.
 */
#ifndef EXAMPLES_44_POOL_H
#define EXAMPLES_44_POOL_H

#include <errno.h>
#include <sley/sley.h>

enum { STORE_SET, STORE_COUNT, CONTAINERS = 8, ROOM = 1000 };

static struct store {
	struct sley_mutex lock; /* methods of a container run side by side */
	uint64_t nr, key[ROOM], value[ROOM];
} stores[CONTAINERS];

static int create(void **self, const struct sley_container_info *info)
{
	*self = &stores[info->id];
	return info->nr == CONTAINERS ? 0 : -EINVAL;
}

static int set(void *self, struct sley_request *request)
{
	struct store *store = self;
	size_t size, i = 0;
	const uint64_t *pair = sley_request_in(request, &size);

	sley_mutex_lock(&store->lock);
	while (i < store->nr && store->key[i] != pair[0])
		i++;
	store->nr += i == store->nr && i < ROOM;
	if (i < ROOM)
		store->key[i] = pair[0], store->value[i] = pair[1];
	sley_mutex_unlock(&store->lock);
	return i < ROOM ? 0 : -ENOSPC;
}

static int count(void *self, struct sley_request *request)
{
	struct store *store = self;
	uint64_t nr;

	sley_mutex_lock(&store->lock);
	nr = store->nr;
	sley_mutex_unlock(&store->lock);
	return sley_request_answer(request, &nr, sizeof(nr));
}

/* Adds the count of a container to the sum of those before it. */
static int add(void *sum, size_t room, size_t *size, const void *nr,
	       size_t nr_size)
{
	*(uint64_t *)sum += *(const uint64_t *)nr;
	return room >= nr_size && *size == nr_size ? 0 : -EMSGSIZE;
}

#endif
