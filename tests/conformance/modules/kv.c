/* SPDX-License-Identifier: MIT */
/*
 * kv.c - the module "kv" as users see it: <sley/kv.h> through a router, and requests of
 * strangers that make no sense.
 */
#include "conformance/bound.h"

#include <stdio.h>

struct shop {
	struct sley *rt;
	struct sley_router *router;
	struct sley_pool *store;
};

static struct shop open_with(uint32_t containers, const char *policy,
			     const struct sley_kv_params *params)
{
	struct shop shop = { .rt = start() };

	CHECK_EQ(sley_router_create(shop.rt, &shop.router,
				    SLEY_ROUTER_OPTIONS(.policy = policy)),
		 0);
	CHECK_EQ(sley_router_add(shop.router, &sley_kv_module), 0);
	CHECK_EQ(sley_pool_open(
			 shop.router, &shop.store, "store",
			 SLEY_POOL_OPTIONS(.module = "kv",
					   .containers = containers,
					   .params = params,
					   .params_size =
						   params ? sizeof(*params)
							  : 0)),
		 0);
	return shop;
}

static struct shop open_shop(uint32_t containers)
{
	return open_with(containers, "default", NULL);
}

static void close_shop(struct shop *shop)
{
	sley_pool_close(shop->store);
	CHECK_EQ(sley_router_destroy(shop->router), 0);
	stop(shop->rt);
}

static struct sley_kv_stats stats_in(const struct shop *shop)
{
	struct sley_kv_stats stats;

	CHECK_EQ(sley_kv_get_stats(shop->store, &stats), 0);
	return stats;
}

static int set_text(const struct shop *shop, const char *key, const char *value)
{
	return sley_kv_set(shop->store, key, strlen(key), value, strlen(value),
			   NULL);
}

/* The value of @key is @text. */
static void check_text(const struct shop *shop, const char *key,
		       const char *text)
{
	char value[64];
	size_t size = 99;

	CHECK_EQ(sley_kv_get(shop->store, key, strlen(key), value,
			     sizeof(value), &size),
		 0);
	CHECK_EQ(size, strlen(text));
	CHECK_EQ(memcmp(value, text, size), 0);
}

/* ---- one key ------------------------------------------------------------------------ */

TEST_WORKERS(what_is_set_can_be_read_and_deleted)
{
	struct shop shop = open_shop(4);
	char value[64];
	size_t size = 99;

	CHECK_EQ(sley_kv_get(shop.store, "ada", 3, value, sizeof(value), &size),
		 -ENOENT);
	CHECK_EQ(set_text(&shop, "ada", "lovelace"), 0);
	check_text(&shop, "ada", "lovelace");
	CHECK_EQ(set_text(&shop, "ada", "countess"), 0);
	check_text(&shop, "ada", "countess");
	CHECK_EQ(set_text(&shop, "ada", ""), 0);
	check_text(&shop, "ada", "");
	CHECK_EQ(sley_kv_delete(shop.store, "ada", 3), 0);
	CHECK_EQ(sley_kv_delete(shop.store, "ada", 3), -ENOENT);
	CHECK_EQ(sley_kv_get(shop.store, "ada", 3, value, sizeof(value), NULL),
		 -ENOENT);
	close_shop(&shop);
}

TEST_WORKERS(conditions_decide_whether_a_value_is_written)
{
	struct shop shop = open_shop(3);
	uint64_t version = 0, first;

	CHECK_EQ(sley_kv_set(shop.store, "k", 1, "a", 1,
			     SLEY_KV_HOW(.flags = SLEY_KV_IF_PRESENT)),
		 -ENOENT);
	CHECK_EQ(sley_kv_set(shop.store, "k", 1, "b", 1,
			     SLEY_KV_HOW(.flags = SLEY_KV_IF_ABSENT)),
		 0);
	CHECK_EQ(sley_kv_set(shop.store, "k", 1, "c", 1,
			     SLEY_KV_HOW(.flags = SLEY_KV_IF_ABSENT)),
		 -EEXIST);
	check_text(&shop, "k", "b");
	CHECK_EQ(sley_kv_set(shop.store, "k", 1, "d", 1,
			     SLEY_KV_HOW(.flags = SLEY_KV_IF_PRESENT)),
		 0);
	CHECK_EQ(sley_kv_cas(shop.store, "k", 1, "e", 1, &version), -EEXIST);
	CHECK_EQ(version, 0);
	CHECK_EQ(sley_kv_cas(shop.store, "new", 3, "e", 1, &version), 0);
	CHECK_GT(version, 0);
	first = version;
	CHECK_EQ(sley_kv_cas(shop.store, "new", 3, "f", 1, &version), 0);
	CHECK_GT(version, first);
	CHECK_EQ(sley_kv_cas(shop.store, "new", 3, "g", 1, &first), -ESTALE);
	CHECK_EQ(sley_kv_cas(shop.store, "none", 4, "g", 1, &first), -ENOENT);
	check_text(&shop, "new", "f");
	close_shop(&shop);
}

TEST_WORKERS(an_entry_has_its_version_and_its_time_to_live)
{
	struct shop shop = open_shop(2);
	struct {
		struct sley_kv_entry head;
		char value[8];
	} got;

	CHECK_EQ(sley_kv_set(shop.store, "k", 1, "value", 5,
			     SLEY_KV_HOW(.ttl_ms = 3600000)),
		 0);
	CHECK_EQ(sley_kv_get_entry(shop.store, "k", 1, &got.head, sizeof(got)),
		 0);
	CHECK_EQ(got.head.value_size, 5);
	CHECK_EQ(memcmp(got.value, "value", 5), 0);
	CHECK_GT(got.head.version, 0);
	CHECK(got.head.ttl_ms > 3000000 && got.head.ttl_ms <= 3600000);
	/* Nothing is written for a key that is not there. */
	memset(&got, 0x55, sizeof(got));
	CHECK_EQ(sley_kv_get_entry(shop.store, "no", 2, &got.head, sizeof(got)),
		 -ENOENT);
	CHECK_EQ(got.head.version, 0x5555555555555555);
	/* Too little room for the value: its length is told. */
	memset(&got, 0, sizeof(got));
	CHECK_EQ(sley_kv_get_entry(shop.store, "k", 1, &got.head,
				   sizeof(got.head) + 4),
		 -EMSGSIZE);
	CHECK_EQ(got.head.value_size, 5);
	CHECK_EQ(got.value[0], 0);
	CHECK_EQ(sley_kv_get_entry(shop.store, "k", 1, &got.head,
				   sizeof(got.head) - 1),
		 -EINVAL);
	CHECK_EQ(sley_kv_get(shop.store, "k", 1, got.value, 4, NULL),
		 -EMSGSIZE);
	close_shop(&shop);
}

TEST_WORKERS(a_key_goes_after_its_time)
{
	struct shop shop = open_shop(2);
	char value[8];
	uint64_t nr = 99, begin_ns, end_ns;

	/* A write may sweep: these two come last. */
	CHECK_EQ(set_text(&shop, "stays", "x"), 0);
	begin_ns = sley_now();
	CHECK_EQ(sley_kv_set(shop.store, "short", 5, "x", 1,
			     SLEY_KV_HOW(.ttl_ms = 50)),
		 0);
	CHECK_EQ(sley_kv_set(shop.store, "swept", 5, "x", 1,
			     SLEY_KV_HOW(.ttl_ms = 50)),
		 0);
	end_ns = sley_now() + 50 * SLEY_MSEC;
	while (sley_kv_get(shop.store, "short", 5, value, 8, NULL) == 0)
		CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
	CHECK_GE(sley_now() - begin_ns, 50 * SLEY_MSEC);
	CHECK_EQ(sley_sleep_until(end_ns), 0);
	CHECK_EQ(sley_pool_call(shop.store,
				SLEY_REQUEST(.method = SLEY_KV_SWEEP,
					     .query = sley_query_dynamic(),
					     .out = &nr,
					     .out_size = sizeof(nr)),
				NULL),
		 0);
	CHECK_EQ(nr, 1);
	CHECK_EQ(stats_in(&shop).expired, 2);
	CHECK_EQ(stats_in(&shop).keys, 1);
	check_text(&shop, "stays", "x");
	close_shop(&shop);
}

TEST_WORKERS(keys_and_values_up_to_their_limits_and_no_further)
{
	struct shop shop = open_shop(2);
	static char key[SLEY_KV_KEY_MAX + 1], value[SLEY_KV_VALUE_MAX + 1];
	static char back[SLEY_KV_VALUE_MAX];
	size_t size;

	memset(key, 'k', sizeof(key));
	memset(value, 'v', sizeof(value));
	CHECK_EQ(sley_kv_set(shop.store, key, SLEY_KV_KEY_MAX, value,
			     SLEY_KV_VALUE_MAX, NULL),
		 0);
	CHECK_EQ(sley_kv_get(shop.store, key, SLEY_KV_KEY_MAX, back,
			     sizeof(back), &size),
		 0);
	CHECK_EQ(size, SLEY_KV_VALUE_MAX);
	CHECK_EQ(memcmp(back, value, size), 0);
	CHECK_EQ(sley_kv_set(shop.store, key, SLEY_KV_KEY_MAX + 1, "x", 1,
			     NULL),
		 -EINVAL);
	CHECK_EQ(sley_kv_set(shop.store, key, 0, "x", 1, NULL), -EINVAL);
	CHECK_EQ(sley_kv_set(shop.store, key, (1ull << 32) + 1, "x", 1, NULL),
		 -EINVAL);
	CHECK_EQ(sley_kv_get(shop.store, key, 0, back, 1, NULL), -EINVAL);
	CHECK_EQ(sley_kv_delete(shop.store, key, SLEY_KV_KEY_MAX + 1), -EINVAL);
	CHECK_EQ(sley_kv_set(shop.store, "k", 1, value, sizeof(value), NULL),
		 -E2BIG);
	CHECK_EQ(sley_kv_set(shop.store, "k", 1, "x", 1,
			     SLEY_KV_HOW(.flags = SLEY_KV_BARE)),
		 -EINVAL);
	CHECK_EQ(sley_kv_set(shop.store, "k", 1, "x", 1,
			     SLEY_KV_HOW(.flags = SLEY_KV_IF_ABSENT |
						  SLEY_KV_IF_PRESENT)),
		 -EINVAL);
	CHECK_EQ(sley_kv_set(shop.store, "k", 1, "x", 1,
			     SLEY_KV_HOW(.reserved = { 1 })),
		 -E2BIG);
	CHECK_EQ(sley_kv_set(shop.store, "k", 1, "x", 1,
			     &(struct sley_kv_how){ .size = 0 }),
		 -EINVAL);
	CHECK_EQ(stats_in(&shop).keys, 1);
	CHECK_EQ(stats_in(&shop).writes, 1);
	close_shop(&shop);
}

TEST_WORKERS(a_dynamic_query_finds_the_container_of_the_key)
{
	struct shop shop = open_shop(8);
	struct {
		struct sley_kv_request head;
		char key[8], value[8];
	} in;
	char value[8];

	for (int i = 0; i < 100; i++) {
		in.head = (struct sley_kv_request){ .key_size = 8,
						    .value_size = 8 };
		snprintf(in.key, sizeof(in.key), "key %d", i);
		memcpy(in.value, in.key, sizeof(in.value));
		CHECK_EQ(sley_pool_call(
				 shop.store,
				 SLEY_REQUEST(.method = SLEY_KV_SET,
					      .query = sley_query_dynamic(),
					      .in = &in, .in_size = sizeof(in)),
				 NULL),
			 0);
		CHECK_EQ(sley_kv_get(shop.store, in.key, 8, value, 8, NULL), 0);
		CHECK_EQ(memcmp(value, in.key, 8), 0);
	}
	CHECK_EQ(stats_in(&shop).keys, 100);
	close_shop(&shop);
}

/* ---- all keys ----------------------------------------------------------------------- */

#define NR_SCANNED 2000

static void fill(const struct shop *shop, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		CHECK_EQ(sley_kv_set(shop->store, &i, sizeof(i), &i, sizeof(i),
				     NULL),
			 0);
}

/* How many keys the scan finds; each of them once. */
static uint32_t scan_all(const struct shop *shop, struct sley_kv_cursor cursor)
{
	_Alignas(8) static char buffer[4096];
	struct sley_kv_page *page = (void *)buffer;
	static bool seen[NR_SCANNED];
	uint32_t nr = 0;

	memset(seen, 0, sizeof(seen));
	while (!cursor.done) {
		CHECK_EQ(sley_kv_scan(shop->store, &cursor, page,
				      sizeof(buffer)),
			 0);
		for (const struct sley_kv_item *item = sley_kv_page_first(page);
		     item; item = sley_kv_page_next(page, item)) {
			uint32_t key;

			CHECK_EQ(item->key_size, sizeof(key));
			memcpy(&key, sley_kv_item_key(item), sizeof(key));
			CHECK(key < NR_SCANNED && !seen[key]);
			seen[key] = true;
			nr++;
		}
	}
	return nr;
}

TEST_WORKERS(a_scan_goes_through_all_containers_or_through_some)
{
	struct shop shop = open_shop(5);
	struct sley_kv_cursor cursor = { .position = 0 };
	_Alignas(8) char small[SLEY_KV_PAGE_MIN];
	uint32_t nr = 0;

	fill(&shop, NR_SCANNED);
	CHECK_EQ(scan_all(&shop, cursor), NR_SCANNED);
	cursor.max = 3;
	CHECK_EQ(scan_all(&shop, cursor), NR_SCANNED);
	for (uint32_t i = 0; i < 5; i++)
		nr += scan_all(&shop, (struct sley_kv_cursor){ .container = i,
							       .end = i + 1 });
	CHECK_EQ(nr, NR_SCANNED);
	cursor = (struct sley_kv_cursor){ .container = 5 };
	CHECK_EQ(sley_kv_scan(shop.store, &cursor, (void *)small,
			      sizeof(small)),
		 -ENXIO);
	cursor = (struct sley_kv_cursor){ .end = 6 };
	CHECK_EQ(sley_kv_scan(shop.store, &cursor, (void *)small,
			      sizeof(small)),
		 -ENXIO);
	close_shop(&shop);
}

TEST_WORKERS(an_empty_store_has_an_empty_scan)
{
	struct shop shop = open_shop(3);

	CHECK_EQ(scan_all(&shop, (struct sley_kv_cursor){ .position = 0 }), 0);
	CHECK_EQ(stats_in(&shop).max_bytes, UINT64_MAX);
	close_shop(&shop);
}

/* ---- limits and counters ------------------------------------------------------------ */

TEST_WORKERS(a_store_stays_below_its_limit_and_counts_what_it_evicts)
{
	struct shop shop =
		open_with(4, "local", SLEY_KV_PARAMS(.max_bytes = 256 << 10));
	struct sley_kv_stats stats;

	fill(&shop, 10000);
	stats = stats_in(&shop);
	CHECK_EQ(stats.max_bytes, 256 << 10);
	CHECK_LE(stats.bytes, stats.max_bytes);
	CHECK_GT(stats.bytes, stats.max_bytes / 2);
	CHECK_EQ(stats.keys + stats.evicted, 10000);
	CHECK_EQ(stats.writes, 10000);
	close_shop(&shop);
}

TEST_WORKERS(counters_tell_hits_and_misses_also_as_json)
{
	struct shop shop = open_shop(1);
	struct sley_container_info info = { .pool = "p",
					    .nr = 1,
					    .rt = shop.rt };
	struct sley_kv_stats stats;
	char text[256];
	void *self;
	int length;

	fill(&shop, 10);
	CHECK_EQ(sley_kv_get(shop.store, "no", 2, text, 8, NULL), -ENOENT);
	for (uint32_t i = 0; i < 3; i++)
		CHECK_EQ(sley_kv_get(shop.store, &i, sizeof(i), text, 8, NULL),
			 0);
	stats = stats_in(&shop);
	CHECK_EQ(stats.hits, 3);
	CHECK_EQ(stats.misses, 1);
	CHECK_EQ(stats.keys, 10);
	CHECK_EQ(sley_kv_module.create(&self, &info), 0);
	length = sley_kv_module.monitor(self, "stats", text, sizeof(text));
	CHECK_EQ(length, strlen(text));
	CHECK_STR(text, "{\"keys\":0,\"bytes\":128,\"hits\":0,\"misses\":0,"
			"\"writes\":0,\"deletes\":0,\"evicted\":0,"
			"\"expired\":0}");
	CHECK_EQ(sley_kv_module.monitor(self, "weather", text, sizeof(text)),
		 -ENOENT);
	sley_kv_module.destroy(self);
	close_shop(&shop);
}

/* The error of a pool with these params. */
static int open_error(struct sley_router *router, const void *params,
		      size_t size, uint32_t containers)
{
	struct sley_pool *pool;
	int err = sley_pool_open(
		router, &pool, "other",
		SLEY_POOL_OPTIONS(.module = "kv", .containers = containers,
				  .params = params, .params_size = size));

	if (!err) {
		CHECK_EQ(sley_pool_destroy(pool), 0);
		sley_pool_close(pool);
	}
	return err;
}

static int text_error(struct sley_router *router, const char *text)
{
	return open_error(router, text, strlen(text), 2);
}

TEST_WORKERS(params_may_be_a_text)
{
	struct shop shop = open_shop(1);
	struct sley_router *router = shop.router;

	CHECK_EQ(text_error(router, "max_bytes=8192\n"), 0);
	CHECK_EQ(text_error(router, "max_bytes=8191\n"), -EINVAL);
	CHECK_EQ(text_error(router, "key_max=1024\nvalue_max=1\n"), 0);
	CHECK_EQ(text_error(router, "key_max=1025\n"), -ERANGE);
	CHECK_EQ(text_error(router, "key_max=some\n"), -EINVAL);
	CHECK_EQ(text_error(router, "max_byte=8192\n"), -EINVAL);
	close_shop(&shop);
}

TEST_WORKERS(params_that_make_no_sense_are_refused)
{
	struct shop shop = open_shop(1);
	struct sley_kv_params params = { .size = sizeof(params) };
	struct sley_router *router = shop.router;
	size_t size = sizeof(params);

	CHECK_EQ(open_error(router, &params, size, 2), 0);
	CHECK_EQ(open_error(router, &params, size - 1, 2), -EINVAL);
	CHECK_EQ(open_error(router, &params, 3, 2), -EINVAL);
	params.max_bytes = 2 * 4096;
	CHECK_EQ(open_error(router, &params, size, 2), 0);
	CHECK_EQ(open_error(router, &params, size, 3), -EINVAL);
	params.max_bytes = 0;
	params.key_max = SLEY_KV_KEY_MAX + 1;
	CHECK_EQ(open_error(router, &params, size, 1), -EINVAL);
	params.key_max = 0;
	params.value_max = SLEY_KV_VALUE_MAX + 1;
	CHECK_EQ(open_error(router, &params, size, 1), -EINVAL);
	params.value_max = 0;
	params.reserved[2] = 1;
	CHECK_EQ(open_error(router, &params, size, 1), -E2BIG);
	params = (struct sley_kv_params){ .size = 0 };
	CHECK_EQ(open_error(router, &params, size, 1), -EINVAL);
	close_shop(&shop);
}

TEST_WORKERS(a_store_may_allow_less_than_the_module_does)
{
	struct shop shop = open_with(
		2, "default", SLEY_KV_PARAMS(.key_max = 4, .value_max = 10));

	CHECK_EQ(set_text(&shop, "four", "0123456789"), 0);
	CHECK_EQ(set_text(&shop, "fives", "x"), -EINVAL);
	CHECK_EQ(set_text(&shop, "four", "0123456789a"), -E2BIG);
	check_text(&shop, "four", "0123456789");
	close_shop(&shop);
}

/* ---- at the same time --------------------------------------------------------------- */

#define NR_COUNTERS 3
#define NR_ADDS 200

struct adders {
	struct shop shop;
	atomic_int nr;
};

static void add_one(struct sley_pool *store, uint32_t key)
{
	struct {
		struct sley_kv_entry head;
		uint64_t value;
	} got;
	int err;

	do {
		err = sley_kv_get_entry(store, &key, sizeof(key), &got.head,
					sizeof(got));
		if (err) {
			CHECK_EQ(err, -ENOENT);
			got.head.version = got.value = 0;
		}
		got.value++;
		err = sley_kv_cas(store, &key, sizeof(key), &got.value,
				  sizeof(got.value), &got.head.version);
		CHECK(!err || err == -ESTALE || err == -EEXIST);
	} while (err);
}

static void add_many(void *arg)
{
	struct adders *adders = arg;
	uint32_t key = (uint32_t)atomic_fetch_add(&adders->nr, 1) % NR_COUNTERS;

	for (int i = 0; i < NR_ADDS; i++)
		add_one(adders->shop.store, key);
}

static void *add_many_thread(void *arg)
{
	add_many(arg);
	return NULL;
}

TEST_WORKERS(increments_by_compare_and_set_are_exact)
{
	struct adders adders = { .shop = open_with(2, "local", NULL) };
	uint64_t sum = 0;

	if (is_single()) {
		run_tasks(12, add_many, &adders);
	} else {
		run_beside(add_many, add_many_thread, &adders);
	}
	for (uint32_t key = 0; key < NR_COUNTERS; key++) {
		uint64_t value;

		CHECK_EQ(sley_kv_get(adders.shop.store, &key, sizeof(key),
				     &value, sizeof(value), NULL),
			 0);
		sum += value;
	}
	CHECK_EQ(sum, 12 * NR_ADDS);
	close_shop(&adders.shop);
}

TEST_WORKERS(a_drained_container_keeps_its_keys_waiting_and_a_deadline_ends_that)
{
	struct shop shop = open_with(1, "local", NULL);
	char value[8];

	CHECK_EQ(set_text(&shop, "k", "v"), 0);
	CHECK_EQ(sley_container_drain_until(shop.store, 0, in_ms(10000)), 0);
	CHECK_EQ(sley_kv_set(shop.store, "k", 1, "w", 1,
			     SLEY_KV_HOW(.deadline_ns = in_ms(5))),
		 -ETIMEDOUT);
	CHECK_EQ(sley_container_open(shop.store, 0), 0);
	CHECK_EQ(sley_kv_get(shop.store, "k", 1, value, 8, NULL), 0);
	CHECK_EQ(value[0], 'v');
	close_shop(&shop);
}

/* ---- strangers ---------------------------------------------------------------------- */

/* A request of random bytes, most of them nearly right. */
struct nonsense {
	struct sley_kv_request head;
	unsigned char rest[48];
};

static uint32_t any_size(void)
{
	static const uint32_t odd[] = { UINT32_MAX, 1u << 31, 1025, 47, 48, 49 };

	return test_random(4) ? test_random(24)
			      : odd[test_random(ARRAY_SIZE(odd))];
}

static void send_nonsense(struct sley_pool *store)
{
	struct nonsense in = {
		.head = { .flags = test_random(2)   ? 0
				   : test_random(3) ? test_random(16)
						    : test_random(1 << 30),
			  .key_size = any_size(),
			  .value_size = test_random(2) ? 0 : any_size(),
			  .reserved = test_random(8) == 0,
			  .version = test_random(4) ? 0 : test_random(100),
			  .ttl_ms = test_random(4) ? 0 : test_random(3) },
	};
	uint64_t fits = sizeof(in.head) + (uint64_t)in.head.key_size +
			in.head.value_size;
	size_t in_size = test_random(3) && fits <= sizeof(in)
				 ? (size_t)fits
				 : test_random(sizeof(in) + 1);
	size_t out_size = test_random(128);
	/* On the heap, to the byte: a sanitizer sees each step too far. */
	unsigned char *bytes = malloc(in_size), *out = malloc(out_size);
	size_t shift = test_random(2);
	int err;

	CHECK(bytes != NULL && out != NULL);
	memset(in.rest, (int)test_random(3), sizeof(in.rest));
	memcpy(bytes + shift, &in, in_size - (shift && in_size));
	err = sley_pool_call(
		store,
		SLEY_REQUEST(.method = test_random(8),
			     .query = test_random(2)
					      ? sley_query_dynamic()
					      : sley_query_id(test_random(2)),
			     .in = test_random(30) ? bytes + shift : NULL,
			     .in_size = in_size - (shift && in_size),
			     .out = out + shift,
			     .out_size = out_size - (shift && out_size)),
		NULL);
	CHECK(err == 0 || err == -EINVAL || err == -ENOENT || err == -EEXIST ||
	      err == -ESTALE || err == -EMSGSIZE || err == -ENOSYS ||
	      err == -E2BIG);
	free(bytes);
	free(out);
}

TEST(requests_that_make_no_sense_are_errors_and_harm_nothing)
{
	struct shop shop = open_with(2, "local",
				     SLEY_KV_PARAMS(.max_bytes = 64 << 10,
						    .value_max = 40));
	struct sley_kv_stats stats;

	for (int i = 0; i < 100000; i++)
		send_nonsense(shop.store);
	stats = stats_in(&shop);
	CHECK_GT(stats.writes, 200);
	CHECK_GT(stats.hits, 50);
	CHECK_LE(stats.bytes, stats.max_bytes);
	CHECK_EQ(set_text(&shop, "still", "works"), 0);
	check_text(&shop, "still", "works");
	close_shop(&shop);
}

/* Each is -EINVAL, and nothing was written. */
TEST(a_set_whose_sizes_do_not_add_up_writes_nothing)
{
	struct shop shop = open_with(1, "local", NULL);
	struct {
		struct sley_kv_request head;
		char bytes[8];
	} in = { .head = { .key_size = 4, .value_size = 4 },
		 .bytes = "keyvalu" };
	static const struct {
		uint32_t key, value;
		size_t in_size;
	} bad[] = {
		{ 4, 4, 39 },          { 4, 4, 31 },
		{ 4, 4, 0 },           { 0, 8, 40 },
		{ 5, 4, 40 },          { 4, 3, 40 },
		{ UINT32_MAX, 9, 40 }, { 4, UINT32_MAX - 3, 40 },
		{ 9, UINT32_MAX, 40 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		in.head.key_size = bad[i].key;
		in.head.value_size = bad[i].value;
		CHECK_EQ(sley_pool_call(shop.store,
					SLEY_REQUEST(.method = SLEY_KV_SET,
						     .in = &in,
						     .in_size = bad[i].in_size),
					NULL),
			 -EINVAL);
	}
	CHECK_EQ(stats_in(&shop).writes, 0);
	close_shop(&shop);
}
