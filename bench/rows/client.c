/* SPDX-License-Identifier: MIT */
/*
 * client.c - rows `client-rtt`, `client-rate` and `client-big`: requests of client
 * processes, which have no runtime, to a pool of a daemon.  problems/trips.h says what is
 * measured.
 */
#include "daemon.h"

#include "../problems/trips.h"

/* ---- the module ---------------------------------------------------------------------- */

enum method { ADD_ONE, THERE, BACK };

static int add_one(void *self, struct sley_request *request)
{
	size_t size;
	const uint64_t *in = sley_request_in(request, &size);
	uint64_t sum;

	(void)self;
	if (size != sizeof(*in))
		return -1;
	sum = *in + 1;
	return sley_request_answer(request, &sum, sizeof(sum));
}

/* The large side is checked, and its first word is the answer. */
static int there(void *self, struct sley_request *request)
{
	size_t size;
	const uint64_t *words = sley_request_in(request, &size);

	(void)self;
	if (size != CLIENT_BIG || !trips_big_is(words, words[0]))
		return -1;
	return sley_request_answer(request, words, sizeof(*words));
}

/* The answer is made in its place, as a method would that reads a file. */
static int back(void *self, struct sley_request *request)
{
	size_t size, room;
	const uint64_t *in = sley_request_in(request, &size);
	uint64_t *words = sley_request_out(request, &room);

	if (size != sizeof(*in) || room != CLIENT_BIG)
		return -1;
	memcpy(words, self, CLIENT_BIG);
	trips_big_stamp(words, *in);
	return sley_request_answer(request, words, CLIENT_BIG);
}

static int create(void **self, const struct sley_container_info *info)
{
	(void)info;
	*self = malloc(CLIENT_BIG);
	if (!*self)
		return -1;
	memset(*self, 1, CLIENT_BIG);
	return 0;
}

static void destroy(void *self)
{
	free(self);
}

static const struct sley_method methods[] = {
	[ADD_ONE] = { .name = "add_one",
		      .run = add_one,
		      .flags = SLEY_METHOD_SHORT },
	[THERE] = { .name = "there", .run = there },
	[BACK] = { .name = "back", .run = back },
};

static const struct sley_module module = {
	SLEY_MODULE_HEAD("trips"), .methods = methods, .nr_methods = 3,
	.create = create,          .destroy = destroy,
};

/* ---- client-rtt ---------------------------------------------------------------------- */

static void ask_one(void *self, uint64_t value)
{
	const struct daemon_client *client = self;
	uint64_t got = 0;

	MEASURE_CHECK(client->m,
		      sley_pool_call(client->pool,
				     SLEY_REQUEST(.method = ADD_ONE,
						  .in = &value,
						  .in_size = sizeof(value),
						  .out = &got,
						  .out_size = sizeof(got)),
				     NULL) == 0);
	MEASURE_CHECK(client->m, got == value + 1);
}

static void trip(const struct measure *m, const struct trips_way *way)
{
	struct daemon daemon = {
		.m = m, .module = &module, .containers = 1, .pinned = true
	};
	struct daemon_client client;

	daemon.wait = way->name ? DAEMON_PARKS : DAEMON_SPINS;
	daemon_start(&daemon);
	daemon_connect(&daemon, &client);
	trips_run(m, way, ask_one, &client);
	daemon_leave(&client);
	daemon_stop(&daemon);
}

void row_client_rtt(const struct measure *m)
{
	crowd_needs_two_cpus();
	for (int i = 0; i < TRIPS_NR_WAYS; i++)
		trip(m, &trips_ways[i]);
}

/* ---- client-rate --------------------------------------------------------------------- */

struct rate {
	struct trips_rate rate;
	struct daemon daemon;
};

/* The requests of one client. */
struct batch {
	struct daemon_client client;
	struct sley_request requests[CLIENT_BATCH];
	struct sley_request_spec specs[CLIENT_BATCH];
	struct sley_request *request[CLIENT_BATCH];
	const struct sley_request_spec *spec[CLIENT_BATCH];
	uint64_t in[CLIENT_BATCH], out[CLIENT_BATCH];
};

static void batch_init(struct batch *batch)
{
	for (int i = 0; i < CLIENT_BATCH; i++) {
		batch->specs[i] = *SLEY_REQUEST(.method = ADD_ONE,
						.in = &batch->in[i],
						.in_size = sizeof(uint64_t),
						.out = &batch->out[i],
						.out_size = sizeof(uint64_t));
		batch->request[i] = &batch->requests[i];
		batch->spec[i] = &batch->specs[i];
	}
}

static void ask_batch(void *self, uint64_t first)
{
	struct batch *batch = self;
	const struct measure *m = batch->client.m;

	for (uint32_t i = 0; i < CLIENT_BATCH; i++)
		batch->in[i] = first + i;
	MEASURE_CHECK(m, sley_submit_many(batch->client.pool, batch->request,
					  batch->spec,
					  CLIENT_BATCH) == CLIENT_BATCH);
	for (uint32_t i = 0; i < CLIENT_BATCH; i++) {
		MEASURE_CHECK(m, sley_request_wait(batch->request[i]) == 0);
		MEASURE_CHECK(m, sley_request_code(batch->request[i]) == 0);
		MEASURE_CHECK(m, batch->out[i] == first + i + 1);
	}
}

static void client_rate(struct crowd_member *member)
{
	struct rate *rate = member->arg;
	static struct batch batch;

	batch_init(&batch);
	daemon_connect(&rate->daemon, &batch.client);
	if (rate->rate.at_a_time == 1)
		trips_rate_ask(&rate->rate, member, ask_one, &batch.client);
	else
		trips_rate_ask(&rate->rate, member, ask_batch, &batch);
	daemon_leave(&batch.client);
}

static void measure_rate_of(const struct measure *m, uint32_t at_a_time)
{
	struct rate rate = { .daemon = { .m = m,
					 .module = &module,
					 .containers = 1,
					 .wait = m->workers == 1
							 ? DAEMON_SPINS
							 : DAEMON_DEFAULT,
					 .pinned = m->workers == 1 } };
	uint64_t ns;

	trips_rate_init(&rate.rate, m, at_a_time);
	daemon_start(&rate.daemon);
	ns = crowd_run(m, client_rate, &rate);
	daemon_stop(&rate.daemon);
	trips_rate_report(&rate.rate, ns);
}

void row_client_rate(const struct measure *m)
{
	crowd_needs_two_cpus();
	measure_rate_of(m, 1);
	measure_rate_of(m, CLIENT_BATCH);
}

/* ---- client-big ---------------------------------------------------------------------- */

struct big {
	struct daemon_client client;
	uint64_t *words;
};

static void ask_there(void *self, uint64_t value)
{
	const struct big *big = self;
	uint64_t got = ~value;

	trips_big_stamp(big->words, value);
	MEASURE_CHECK(
		big->client.m,
		sley_pool_call(big->client.pool,
			       SLEY_REQUEST(.method = THERE, .in = big->words,
					    .in_size = CLIENT_BIG, .out = &got,
					    .out_size = sizeof(got)),
			       NULL) == 0);
	MEASURE_CHECK(big->client.m, got == value);
}

static void ask_back(void *self, uint64_t value)
{
	const struct big *big = self;

	MEASURE_CHECK(big->client.m,
		      sley_pool_call(big->client.pool,
				     SLEY_REQUEST(.method = BACK, .in = &value,
						  .in_size = sizeof(value),
						  .out = big->words,
						  .out_size = CLIENT_BIG),
				     NULL) == 0);
	MEASURE_CHECK(big->client.m, trips_big_is(big->words, value));
}

void row_client_big(const struct measure *m)
{
	struct daemon daemon = { .m = m,
				 .module = &module,
				 .containers = 1,
				 .wait = DAEMON_SPINS,
				 .pinned = true };
	struct big big;

	crowd_needs_two_cpus();
	big.words = trips_big_alloc(m);
	daemon_start(&daemon);
	daemon_connect(&daemon, &big.client);
	measure_pin(0);
	trips_big(m, "there_ns", ask_there, &big);
	trips_big(m, "back_ns", ask_back, &big);
	daemon_leave(&big.client);
	daemon_stop(&daemon);
	free(big.words);
}
