/* SPDX-License-Identifier: MIT */
/*
 * kv_stress.c - tasks and plain threads write, read, delete and scan two stores, while
 * containers are drained and keys expire.
 *
 * All bytes of a value are made of its first number: a reader that gets half of one
 * value and half of another sees it.  Values are small and large, so that they are
 * written over, replaced and read without the lock.  One store is full nearly all the
 * time, and must never exceed its limit.  The other store has counters that are counted
 * up by compare-and-set: no count may be lost.
 */
#include "stress/crowd.h"

#define NR_TASKS 12
#define NR_THREADS 3
#define NR_CONTAINERS 2
#define NR_KEYS 400
#define NR_COUNTERS 3
#define VALUE_MAX 5000
#define LIMIT (192u << 10)

static struct scene {
	struct sley_pool *full, *counters;
	atomic_uint_least64_t nr_added;
} scene;

struct value {
	uint64_t number;
	unsigned char rest[VALUE_MAX];
};

/* ---- values that can be checked ------------------------------------------------------ */

static size_t make_value(struct value *value)
{
	size_t rest = one_in(4) ? test_random(VALUE_MAX) : test_random(120);

	value->number = test_random(UINT32_MAX);
	memset(value->rest, (int)(value->number & 0xff), rest);
	return sizeof(value->number) + rest;
}

static void check_value(const struct value *value, size_t size)
{
	CHECK(size >= sizeof(value->number) && size <= sizeof(*value));
	for (size_t i = 0; i < size - sizeof(value->number); i++)
		CHECK_EQ(value->rest[i], value->number & 0xff);
}

static int write_one(uint32_t key)
{
	struct value value;
	size_t size = make_value(&value);
	uint32_t flags = one_in(4)   ? SLEY_KV_IF_ABSENT
			 : one_in(4) ? SLEY_KV_IF_PRESENT
				     : 0;
	int err = sley_kv_set(scene.full, &key, sizeof(key), &value, size,
			      SLEY_KV_HOW(.flags = flags, .ttl_ms = one_in(8)));

	CHECK(!err || (err == -EEXIST && flags == SLEY_KV_IF_ABSENT) ||
	      (err == -ENOENT && flags == SLEY_KV_IF_PRESENT));
	return 0;
}

static int read_one(uint32_t key)
{
	struct value value;
	size_t size;
	int err = sley_kv_get(scene.full, &key, sizeof(key), &value,
			      sizeof(value), &size);

	if (!err)
		check_value(&value, size);
	else
		CHECK_EQ(err, -ENOENT);
	return 0;
}

static int delete_one(uint32_t key)
{
	int err = sley_kv_delete(scene.full, &key, sizeof(key));

	CHECK(!err || err == -ENOENT);
	return 0;
}

/* ---- all keys ------------------------------------------------------------------------- */

static void scan_all(void)
{
	_Alignas(8) char buffer[2048];
	struct sley_kv_page *page = (void *)buffer;
	struct sley_kv_cursor cursor = { .position = 0 };
	bool seen[NR_KEYS] = { false };

	while (!cursor.done) {
		CHECK_EQ(sley_kv_scan(scene.full, &cursor, page,
				      sizeof(buffer)),
			 0);
		for (const struct sley_kv_item *item = sley_kv_page_first(page);
		     item; item = sley_kv_page_next(page, item)) {
			uint32_t key;

			CHECK_EQ(item->key_size, sizeof(key));
			memcpy(&key, sley_kv_item_key(item), sizeof(key));
			CHECK(key < NR_KEYS && !seen[key]);
			seen[key] = true;
		}
	}
}

static void check_limit(void)
{
	struct sley_kv_stats stats;

	CHECK_EQ(sley_kv_get_stats(scene.full, &stats), 0);
	CHECK_EQ(stats.max_bytes, LIMIT);
	CHECK_LE(stats.bytes, LIMIT);
}

static int look(void)
{
	uint32_t id = (uint32_t)test_random(NR_CONTAINERS);

	switch (test_random(4)) {
	case 0:
		CHECK_EQ(sley_pool_call(
				 scene.full,
				 SLEY_REQUEST(.method = SLEY_KV_SWEEP,
					      .query = sley_query_broadcast()),
				 NULL),
			 0);
		break;
	case 1:
		if (!sley_container_drain_until(scene.full, id, soon()))
			CHECK_EQ(sley_container_open(scene.full, id), 0);
		break;
	case 2:
		check_limit();
		break;
	default:
		scan_all();
	}
	return 0;
}

/* ---- counters -------------------------------------------------------------------------- */

static int add_one(uint32_t key)
{
	struct {
		struct sley_kv_entry head;
		uint64_t value;
	} got;
	int err = sley_kv_get_entry(scene.counters, &key, sizeof(key),
				    &got.head, sizeof(got));

	if (err) {
		CHECK_EQ(err, -ENOENT);
		got.head.version = got.value = 0;
	}
	got.value++;
	err = sley_kv_cas(scene.counters, &key, sizeof(key), &got.value,
			  sizeof(got.value), &got.head.version);
	CHECK(!err || err == -ESTALE || err == -EEXIST);
	if (!err)
		atomic_fetch_add(&scene.nr_added, 1);
	return err ? -EAGAIN : 0;
}

static uint64_t sum_of_counters(void)
{
	uint64_t sum = 0;

	for (uint32_t key = 0; key < NR_COUNTERS; key++) {
		uint64_t value = 0;
		int err = sley_kv_get(scene.counters, &key, sizeof(key), &value,
				      sizeof(value), NULL);

		CHECK(!err || err == -ENOENT);
		sum += value;
	}
	return sum;
}

/* ---- the play --------------------------------------------------------------------------- */

static int act(void *arg, unsigned int index)
{
	uint32_t key = (uint32_t)test_random(NR_KEYS);

	(void)arg;
	dawdle();
	if (index == 0 || index == NR_TASKS)
		return look();
	switch (test_random(8)) {
	case 0:
		return delete_one(key);
	case 1:
	case 2:
	case 3:
		return write_one(key);
	case 4:
		return add_one(key % NR_COUNTERS);
	default:
		return read_one(key);
	}
}

static struct sley_pool *open_store(struct sley_router *router,
				    const char *name,
				    const struct sley_kv_params *params)
{
	struct sley_pool *pool = NULL;

	CHECK_EQ(sley_pool_open(router, &pool, name,
				SLEY_POOL_OPTIONS(.module = "kv",
						  .containers = NR_CONTAINERS,
						  .params = params,
						  .params_size =
							  sizeof(*params))),
		 0);
	return pool;
}

static struct sley_router *open_router(void)
{
	struct sley_router *router;

	CHECK_EQ(sley_router_create(
			 sley_current(), &router,
			 SLEY_ROUTER_OPTIONS(.policy = one_in(2) ? "local"
								 : "default")),
		 0);
	CHECK_EQ(sley_router_add(router, &sley_kv_module), 0);
	return router;
}

static void play(void)
{
	static struct crowd crowd = { .act = act,
				      .nr_tasks = NR_TASKS,
				      .nr_threads = NR_THREADS,
				      .rounds = 300 };
	struct sley_router *router = open_router();

	scene.full =
		open_store(router, "full", SLEY_KV_PARAMS(.max_bytes = LIMIT));
	scene.counters =
		open_store(router, "counters", SLEY_KV_PARAMS(.max_bytes = 0));
	atomic_store(&scene.nr_added, 0);
	crowd_run(&crowd);
	check_limit();
	CHECK_EQ(sum_of_counters(), atomic_load(&scene.nr_added));
	sley_pool_close(scene.full);
	sley_pool_close(scene.counters);
	CHECK_EQ(sley_router_destroy(router), 0);
}

STRESS(stores_under_pressure, play);

/* ---- large values of few keys, which are read without the lock --------------------------- */

#define NR_LARGE_KEYS 2
#define LARGE 200000 /* and a few bytes more or less: the same memory */

static int act_on_large(void *arg, unsigned int index)
{
	uint32_t key = (uint32_t)test_random(NR_LARGE_KEYS);
	unsigned char *value = malloc(LARGE + 8);
	size_t size = LARGE + test_random(8), nr_other = 0;
	int err;

	(void)arg;
	(void)index;
	CHECK(value != NULL);
	if (one_in(8)) {
		err = sley_kv_delete(scene.full, &key, sizeof(key));
	} else if (one_in(2)) {
		memset(value, (int)test_random(256), size);
		err = sley_kv_set(scene.full, &key, sizeof(key), value, size,
				  NULL);
	} else {
		err = sley_kv_get(scene.full, &key, sizeof(key), value,
				  LARGE + 8, &size);
		for (size_t i = 0; i < size && !err; i++)
			nr_other += value[i] != value[0];
	}
	CHECK(!err || err == -ENOENT);
	CHECK_EQ(nr_other, 0);
	free(value);
	return 0;
}

static void play_large(void)
{
	static struct crowd crowd = { .act = act_on_large,
				      .nr_tasks = 4,
				      .nr_threads = 4,
				      .rounds = 100 };
	struct sley_router *router = open_router();

	scene.full = open_store(router, "full", SLEY_KV_PARAMS(.max_bytes = 0));
	crowd_run(&crowd);
	sley_pool_close(scene.full);
	CHECK_EQ(sley_router_destroy(router), 0);
}

STRESS(large_values_of_few_keys, play_large);
