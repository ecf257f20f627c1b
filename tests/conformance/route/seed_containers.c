/* SPDX-License-Identifier: MIT */
/*
 * seed_containers.c - the containers that the description of the scheduler gives as
 * examples of ScheduleTask, in C: C11, C17 to C19.
 *
 *   a distributed key-value store   get, put, delete: the container of the key;
 *                                   scan: the containers of the keys from first to last;
 *                                   create index: all; anything else: the caller's
 *   a distributed file system       read, write: the container of the block;
 *                                   anything else: the caller's
 *
 * All requests are dynamic: the submitter does not know where a key or a block is.
 */
#include "conformance/bound.h"

#define CONTAINERS 4

/* A router with a pool of @module. */
struct site {
	struct sley *rt;
	struct sley_router *router;
	struct sley_pool *pool;
};

static struct site site_start(const struct sley_module *module)
{
	struct site site = { .rt = start() };

	CHECK_EQ(sley_router_create(site.rt, &site.router, NULL), 0);
	CHECK_EQ(sley_router_add(site.router, module), 0);
	CHECK_EQ(sley_pool_open(site.router, &site.pool, "site",
				SLEY_POOL_OPTIONS(.module = module->name,
						  .containers = CONTAINERS)),
		 0);
	return site;
}

static void site_stop(struct site *site)
{
	sley_pool_close(site->pool);
	CHECK_EQ(sley_router_destroy(site->router), 0);
	stop(site->rt);
}

/* A dynamic request; *@answer gets the number that it answers with. */
static int ask(struct sley_pool *pool, uint32_t method, const void *in,
	       size_t in_size, uint64_t *answer)
{
	*answer = 0;
	return sley_pool_call(
		pool,
		SLEY_REQUEST(.method = method, .query = sley_query_dynamic(),
			     .in = in, .in_size = in_size, .out = answer,
			     .out_size = sizeof(*answer)),
		NULL);
}

static int answer_with(struct sley_request *request, uint64_t number)
{
	return sley_request_answer(request, &number, sizeof(number));
}

static uint64_t container_of_request(const struct sley_request *request)
{
	return sley_container_id(sley_request_container(request));
}

/* ---- the key-value store ------------------------------------------------------------ */

#define KEYS_EACH 100 /* a partition; keys from 0 to 399 */
#define KEYS (KEYS_EACH * CONTAINERS)

enum { KV_GET, KV_PUT, KV_DELETE, KV_SCAN, KV_CREATE_INDEX, KV_PING, NR_KV };

struct kv_pair {
	uint64_t key, value;
};

struct kv_range {
	uint64_t first, last;
};

struct kv {
	struct sley_mutex lock;
	bool is_indexed;
	uint64_t value[KEYS_EACH]; /* 0: there is none */
};

/* The hash of a key is its partition: so keys that are near are together. */
static uint64_t kv_hash(uint64_t key)
{
	return key / KEYS_EACH;
}

static struct sley_query kv_schedule(void *self,
				     const struct sley_request *request)
{
	size_t size;
	const void *in = sley_request_in(request, &size);
	const struct kv_range *range = in;

	(void)self;
	switch (sley_request_method(request)) {
	case KV_GET:
	case KV_PUT:
	case KV_DELETE:
		return sley_query_hash(kv_hash(*(const uint64_t *)in));
	case KV_SCAN:
		return sley_query_range(kv_hash(range->first),
					kv_hash(range->last) -
						kv_hash(range->first) + 1);
	case KV_CREATE_INDEX:
		return sley_query_broadcast();
	default:
		return sley_query_local();
	}
}

static int kv_create(void **self, const struct sley_container_info *info)
{
	(void)info;
	*self = calloc(1, sizeof(struct kv));
	return *self ? 0 : -ENOMEM;
}

/* A key, alone or in front of a value: @change is done with its place. */
static int kv_change(struct kv *kv, struct sley_request *request,
		     uint64_t (*change)(uint64_t *place,
					const struct kv_pair *pair))
{
	size_t size;
	const struct kv_pair *pair = sley_request_in(request, &size);
	uint64_t found;

	CHECK_EQ(kv_hash(pair->key), container_of_request(request));
	sley_mutex_lock(&kv->lock);
	found = change(&kv->value[pair->key % KEYS_EACH], pair);
	sley_mutex_unlock(&kv->lock);
	return found ? answer_with(request, found) : -ENOENT;
}

static uint64_t get_value(uint64_t *place, const struct kv_pair *pair)
{
	(void)pair;
	return *place;
}

static uint64_t put_value(uint64_t *place, const struct kv_pair *pair)
{
	return *place = pair->value;
}

static uint64_t delete_value(uint64_t *place, const struct kv_pair *pair)
{
	uint64_t old = *place;

	(void)pair;
	*place = 0;
	return old;
}

static int kv_get(void *self, struct sley_request *request)
{
	return kv_change(self, request, get_value);
}

static int kv_put(void *self, struct sley_request *request)
{
	return kv_change(self, request, put_value);
}

static int kv_delete(void *self, struct sley_request *request)
{
	return kv_change(self, request, delete_value);
}

/* The sum of the values from the first key to the last, of this container. */
static int kv_scan(void *self, struct sley_request *request)
{
	struct kv *kv = self;
	size_t size;
	const struct kv_range *range = sley_request_in(request, &size);
	uint64_t base = container_of_request(request) * KEYS_EACH, sum = 0;

	sley_mutex_lock(&kv->lock);
	for (uint64_t i = 0; i < KEYS_EACH; i++) {
		if (base + i >= range->first && base + i <= range->last)
			sum += kv->value[i];
	}
	sley_mutex_unlock(&kv->lock);
	return answer_with(request, sum);
}

static int kv_create_index(void *self, struct sley_request *request)
{
	struct kv *kv = self;

	sley_mutex_lock(&kv->lock);
	CHECK(!kv->is_indexed);
	kv->is_indexed = true;
	sley_mutex_unlock(&kv->lock);
	return answer_with(request, 1);
}

static int kv_ping(void *self, struct sley_request *request)
{
	(void)self;
	return answer_with(request, container_of_request(request));
}

static int add(void *into, size_t room, size_t *size, const void *from,
	       size_t from_size)
{
	uint64_t sum, more;

	CHECK(room == sizeof(sum) && *size == sizeof(sum));
	CHECK_EQ(from_size, sizeof(more));
	memcpy(&sum, into, sizeof(sum));
	memcpy(&more, from, sizeof(more));
	sum += more;
	memcpy(into, &sum, sizeof(sum));
	return 0;
}

static const struct sley_method kv_methods[NR_KV] = {
	[KV_GET] = { .name = "get", .run = kv_get },
	[KV_PUT] = { .name = "put", .run = kv_put },
	[KV_DELETE] = { .name = "delete", .run = kv_delete },
	[KV_SCAN] = { .name = "scan", .run = kv_scan, .combine = add },
	[KV_CREATE_INDEX] = { .name = "create index",
			      .run = kv_create_index,
			      .combine = add },
	[KV_PING] = { .name = "ping", .run = kv_ping },
};

static const struct sley_module kv_module = {
	SLEY_MODULE_HEAD("seed kv"),
	.methods = kv_methods,
	.nr_methods = NR_KV,
	.create = kv_create,
	.destroy = free,
	.schedule = kv_schedule,
};

static void fill(struct sley_pool *pool)
{
	uint64_t answer;

	for (uint64_t key = 0; key < KEYS; key++) {
		struct kv_pair pair = { key, key + 1 };

		CHECK_EQ(ask(pool, KV_PUT, &pair, sizeof(pair), &answer), 0);
	}
}

TEST_WORKERS(c11_the_seeds_store_sends_a_key_to_its_container)
{
	struct site site = site_start(&kv_module);
	uint64_t answer;

	fill(site.pool);
	for (uint64_t key = 0; key < KEYS; key += 37) {
		CHECK_EQ(ask(site.pool, KV_GET, &key, sizeof(key), &answer), 0);
		CHECK_EQ(answer, key + 1);
		CHECK_EQ(ask(site.pool, KV_DELETE, &key, sizeof(key), &answer),
			 0);
		CHECK_EQ(ask(site.pool, KV_GET, &key, sizeof(key), &answer),
			 -ENOENT);
	}
	site_stop(&site);
}

static void check_scan(struct sley_pool *pool, uint64_t first, uint64_t last)
{
	struct kv_range range = { first, last };
	uint64_t sum = 0, answer;

	for (uint64_t key = first; key <= last; key++)
		sum += key + 1;
	CHECK_EQ(ask(pool, KV_SCAN, &range, sizeof(range), &answer), 0);
	CHECK_EQ(answer, sum);
}

TEST_WORKERS(c18_the_seeds_store_scans_the_containers_of_a_range_of_keys)
{
	struct site site = site_start(&kv_module);
	struct sley_router_stats before = { .size = sizeof(before) };
	struct sley_router_stats after = { .size = sizeof(after) };

	fill(site.pool);
	check_scan(site.pool, 0, KEYS - 1);
	check_scan(site.pool, 7, 7);
	check_scan(site.pool, 99, 100);
	CHECK_EQ(sley_router_get_stats(site.router, &before), 0);
	check_scan(site.pool, 150, 310);
	CHECK_EQ(sley_router_get_stats(site.router, &after), 0);
	/* The request, and a part for each of three containers. */
	CHECK_EQ(after.submitted - before.submitted, 1 + 3);
	site_stop(&site);
}

TEST_WORKERS(c19_the_seeds_store_makes_an_index_in_all_containers)
{
	struct site site = site_start(&kv_module);
	uint64_t answer;

	CHECK_EQ(ask(site.pool, KV_CREATE_INDEX, NULL, 0, &answer), 0);
	CHECK_EQ(answer, CONTAINERS);
	CHECK_EQ(ask(site.pool, KV_PING, NULL, 0, &answer), 0);
	CHECK_EQ(answer,
		 0); /* where it is: container 0, for a caller outside */
	site_stop(&site);
}

/* ---- the file system ----------------------------------------------------------------- */

#define BLOCK 4096
#define BLOCKS 64 /* of the only file */

enum { FS_READ, FS_WRITE, FS_STAT, NR_FS };

struct fs_range {
	uint64_t offset;
	unsigned char byte; /* what is written */
};

struct fs {
	struct sley_mutex lock;
	unsigned char first_byte[BLOCKS]; /* of each block of this container */
};

static uint64_t fs_block(const struct sley_request *request)
{
	size_t size;
	const struct fs_range *range = sley_request_in(request, &size);

	return range->offset / BLOCK;
}

static struct sley_query fs_schedule(void *self,
				     const struct sley_request *request)
{
	uint32_t method = sley_request_method(request);

	(void)self;
	/* The container that has the block. */
	if (method == FS_READ || method == FS_WRITE)
		return sley_query_hash(fs_block(request));
	return sley_query_local(); /* what is known of the file is everywhere */
}

static int fs_create(void **self, const struct sley_container_info *info)
{
	(void)info;
	*self = calloc(1, sizeof(struct fs));
	return *self ? 0 : -ENOMEM;
}

static int fs_read(void *self, struct sley_request *request)
{
	struct fs *fs = self;
	uint64_t block = fs_block(request), byte;

	CHECK_EQ(block % CONTAINERS, container_of_request(request));
	sley_mutex_lock(&fs->lock);
	byte = fs->first_byte[block];
	sley_mutex_unlock(&fs->lock);
	return answer_with(request, byte);
}

static int fs_write(void *self, struct sley_request *request)
{
	struct fs *fs = self;
	size_t size;
	const struct fs_range *range = sley_request_in(request, &size);

	sley_mutex_lock(&fs->lock);
	fs->first_byte[fs_block(request)] = range->byte;
	sley_mutex_unlock(&fs->lock);
	return answer_with(request, 1);
}

/* The file has a part in each container; a method asks the others by broadcast. */
static int fs_stat(void *self, struct sley_request *request)
{
	(void)self;
	return answer_with(request, container_of_request(request));
}

static const struct sley_method fs_methods[NR_FS] = {
	[FS_READ] = { .name = "read", .run = fs_read },
	[FS_WRITE] = { .name = "write", .run = fs_write },
	[FS_STAT] = { .name = "stat", .run = fs_stat },
};

static const struct sley_module fs_module = {
	SLEY_MODULE_HEAD("seed fs"),
	.methods = fs_methods,
	.nr_methods = NR_FS,
	.create = fs_create,
	.destroy = free,
	.schedule = fs_schedule,
};

TEST_WORKERS(c17_the_seeds_file_system_sends_a_block_to_its_container)
{
	struct site site = site_start(&fs_module);
	uint64_t answer;

	for (uint64_t block = 0; block < BLOCKS; block++) {
		struct fs_range range = { block * BLOCK + 17,
					  (unsigned char)(block + 1) };

		CHECK_EQ(ask(site.pool, FS_WRITE, &range, sizeof(range),
			     &answer),
			 0);
	}
	for (uint64_t block = 0; block < BLOCKS; block++) {
		struct fs_range range = { block * BLOCK, 0 };

		CHECK_EQ(ask(site.pool, FS_READ, &range, sizeof(range),
			     &answer),
			 0);
		CHECK_EQ(answer, block + 1);
	}
	site_stop(&site);
}

TEST_WORKERS(c11_the_seeds_file_system_leaves_metadata_where_it_is)
{
	struct site site = site_start(&fs_module);
	uint64_t answer = 9;

	CHECK_EQ(ask(site.pool, FS_STAT, NULL, 0, &answer), 0);
	CHECK_EQ(answer, 0);
	site_stop(&site);
}
