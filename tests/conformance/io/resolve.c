/* SPDX-License-Identifier: MIT */
/*
 * resolve.c - names are looked up beside the task, until a deadline.
 *
 * The look-up is replaced: tests/ has no name server, and none that is slow.
 */
#include <netdb.h>

#include "conformance/io/pairs.h"

static struct gate gate;        /* of "slow" */
static atomic_int nr_looked_up; /* begun, and ended */
static atomic_int nr_answered;

static struct addrinfo *answer(const char *service)
{
	struct found {
		struct addrinfo info;
		struct sockaddr_in address;
	} *found = calloc(1, sizeof(*found));

	CHECK(found != NULL);
	found->address.sin_family = AF_INET;
	found->address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	found->address.sin_port =
		htons((uint16_t)(strcmp(service, "http") ? atoi(service) : 80));
	found->info.ai_addr = (struct sockaddr *)&found->address;
	found->info.ai_addrlen = sizeof(found->address);
	return &found->info;
}

int getaddrinfo(const char *host, const char *service,
		const struct addrinfo *hints, struct addrinfo **out)
{
	(void)hints;
	atomic_fetch_add(&nr_looked_up, 1);
	if (!strcmp(host, "slow"))
		gate_hold(&gate);
	atomic_fetch_add(&nr_answered, 1);
	if (!strcmp(host, "nowhere"))
		return EAI_NONAME;
	if (!strcmp(host, "later"))
		return EAI_AGAIN;
	*out = answer(service);
	if (!strcmp(host, "two"))
		(*out)->ai_next = answer("2");
	return 0;
}

void freeaddrinfo(struct addrinfo *found)
{
	while (found) {
		struct addrinfo *next = found->ai_next;

		free(found);
		found = next;
	}
}

static void check_text(const struct sley_address *address, const char *text)
{
	char found[SLEY_ADDRESS_TEXT];

	CHECK_GT(sley_address_text(address, found, sizeof(found)), 0);
	CHECK_STR(found, text);
}

static void look_up(void *arg)
{
	struct sley_address address[4];

	(void)arg;
	CHECK_EQ(sley_address_resolve(address, 4, "one:1"), 1);
	check_text(&address[0], "127.0.0.1:1");
	CHECK_EQ(sley_address_resolve(address, 4, "one:http"), 1);
	check_text(&address[0], "127.0.0.1:80");
	CHECK_EQ(sley_address_resolve(address, 4, "two:1"), 2);
	check_text(&address[1], "127.0.0.1:2");
	CHECK_EQ(sley_address_resolve(address, 1, "two:1"), 1);
	CHECK_EQ(sley_address_resolve(address, 0, "two:1"), -EINVAL);
	CHECK_EQ(sley_address_resolve(address, 4, "nowhere:1"), -ENOENT);
	CHECK_EQ(sley_address_resolve(address, 4, "later:1"), -EAGAIN);
	CHECK_EQ(sley_address_resolve(address, 4, "one"), -EINVAL);
	CHECK_EQ(sley_address_resolve_until(address, 4, "one:1", 0),
		 -ETIMEDOUT);
}

static void *look_up_in_thread(void *arg)
{
	look_up(arg);
	return NULL;
}

TEST_WORKERS(names_become_addresses)
{
	struct sley *rt = start();

	run_task(look_up, NULL);
	look_up(NULL);
	stop(rt);
	pthread_join(test_thread(look_up_in_thread, NULL), NULL);
}

TEST_WORKERS(numbers_are_not_looked_up)
{
	struct sley *rt = start();
	struct sley_address address;

	CHECK_EQ(sley_address_resolve(&address, 1, "127.0.0.1:80"), 1);
	CHECK_EQ(sley_address_resolve(&address, 1, "[::1]:80"), 1);
	CHECK_EQ(sley_address_resolve(&address, 1, "unix:/x"), 1);
	CHECK_EQ(nr_looked_up, 0);
	stop(rt);
}

static void look_up_slowly(void *arg)
{
	struct sley_address address = { .length = 77 };

	(void)arg;
	/* On a busy machine the thread of the first call may start too late. */
	for (unsigned int ms = 5; !nr_looked_up; ms *= 2) {
		uint64_t start_ns = sley_now();

		CHECK_LT(ms, 20000);
		CHECK_EQ(sley_address_resolve_until(&address, 1, "slow:1",
						    in_ms(ms)),
			 -ETIMEDOUT);
		CHECK_GE(ms_since(start_ns), ms);
	}
	CHECK_EQ(address.length, 77);
	CHECK_EQ(nr_answered, 0);
}

/* The answer comes when the asker, and its stack, are gone. */
TEST_WORKERS(a_late_answer_is_dropped)
{
	struct sley *rt = start();

	run_task(look_up_slowly, NULL);
	CHECK_EQ(nr_looked_up, 1);
	gate_open(&gate);
	stop(rt); /* waits for the thread */
	CHECK_EQ(nr_answered, 1);
}

static void look_up_for_ever(void *arg)
{
	struct sley_stream stream;

	(void)arg;
	CHECK_EQ(sley_stream_connect(&stream, "slow:1"), -ECANCELED);
}

TEST_WORKERS(a_cancel_ends_the_wait_for_an_answer)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	sley_spawn(&group, &task, look_up_for_ever, NULL);
	CHECK_SOON(gate.held == 1);
	sley_cancel(&task);
	sley_join(&group);
	CHECK_EQ(nr_answered, 0);
	gate_open(&gate);
	stop(rt);
	CHECK_EQ(nr_answered, 1);
}

static void look_up_in_vain(void *arg)
{
	struct sley_address address;
	uint64_t start_ns = sley_now();

	(void)arg;
	CHECK_EQ(sley_address_resolve_until(&address, 1, "one:1", in_ms(5)),
		 -ETIMEDOUT);
	CHECK_GE(ms_since(start_ns), 5);
}

/* All threads are in calls: the look-up never begins. */
TEST_WORKERS(a_look_up_that_has_not_begun_is_taken_back)
{
	struct sley_config config = *test_config();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	struct sley *rt;

	config.blocking_max = 1;
	rt = start_with(&config);
	sley_spawn(&group, &task, look_up_for_ever, NULL);
	CHECK_SOON(gate.held == 1);
	run_task(look_up_in_vain, NULL);
	CHECK_EQ(nr_looked_up, 1);
	sley_cancel(&task);
	sley_join(&group);
	gate_open(&gate);
	stop(rt);
	CHECK_EQ(nr_answered, 1);
}

TEST_WORKERS(the_next_address_is_tried)
{
	struct sley *rt = start();
	struct sley_stream stream;

	/* Port 1 and port 2: nothing listens there. */
	CHECK_EQ(sley_stream_connect(&stream, "two:1"), -ECONNREFUSED);
	stop(rt);
}
