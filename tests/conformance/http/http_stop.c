/* SPDX-License-Identifier: MIT */
/*
 * http_stop.c - <sley/http.h>: a server stops, and requests under way are answered.
 */
#include "conformance/http/serving.h"

static struct reply reply;

struct held {
	struct sley_event begun, go;
	atomic_int nr_begun;
	int result;
};

#define HELD_INIT { .begun = SLEY_EVENT_INIT, .go = SLEY_EVENT_INIT }

/* Waits until the test says go. */
static int hold(struct sley_http_request *request,
		struct sley_http_response *response, void *arg)
{
	struct held *held = arg;

	if (request->path.size > 1)
		return echo(request, response, NULL);
	atomic_fetch_add(&held->nr_begun, 1);
	sley_event_set(&held->begun);
	held->result = sley_event_wait(&held->go);
	if (held->result)
		return held->result;
	return sley_http_respond(response, 200, NULL, "held", 4);
}

struct stopping {
	struct serving *serving;
	uint64_t deadline_ns;
	int result;
};

static void stop_task(void *arg)
{
	struct stopping *stopping = arg;

	stopping->result = sley_http_server_stop_until(
		&stopping->serving->server, stopping->deadline_ns);
}

static bool is_refused(const struct serving *serving)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)serving->port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int err;

	CHECK(fd >= 0);
	err = sley_io_connect(fd, (struct sockaddr *)&address, sizeof(address));
	sley_io_close(fd);
	return err == -ECONNREFUSED;
}

/* The held request is answered, its connection closed, and no other is accepted. */
TEST_WORKERS(a_stop_waits_for_requests_under_way)
{
	struct sley *rt = start();
	struct held held = HELD_INIT;
	struct sley_group group = SLEY_GROUP_INIT;
	struct serving serving;
	struct stopping stopping = { &serving, SLEY_FOREVER, 1 };
	struct sley_task task;
	struct peer *peer, *idle;

	serving_start(&serving, hold, &held, NULL);
	idle = peer_connect(&serving);
	peer_send(idle, GET("/idle"));
	peer_reply(idle, &reply);
	peer = peer_connect(&serving);
	peer_send(peer, GET("/"));
	CHECK_EQ(sley_event_wait(&held.begun), 0);
	sley_spawn(&group, &task, stop_task, &stopping);
	peer_check_end(idle);
	CHECK_SOON(is_refused(&serving));
	CHECK_EQ(stopping.result, 1);
	sley_event_set(&held.go);
	peer_reply(peer, &reply);
	CHECK_EQ(reply.status, 200);
	CHECK_STR(reply.body, "held");
	CHECK(reply_has(&reply, "Connection: close"));
	peer_check_end(peer);
	peer_close(peer);
	peer_close(idle);
	sley_join(&group);
	CHECK_EQ(stopping.result, 0);
	sley_join(&serving.group);
	CHECK_EQ(serving.result, 0);
	stop(rt);
}

/* A request that came whole before the stop, behind another one, is not lost. */
TEST_WORKERS(a_stop_answers_a_request_that_has_begun)
{
	struct sley *rt = start();
	struct held held = HELD_INIT;
	struct sley_group group = SLEY_GROUP_INIT;
	struct serving serving;
	struct stopping stopping = { &serving, SLEY_FOREVER, 1 };
	struct sley_task task;
	struct peer *peer;

	serving_start(&serving, hold, &held, NULL);
	peer = peer_connect(&serving);
	peer_send(peer, "POST /half HTTP/1.1\r\nHost: a\r\n"
			"Content-Length: 4\r\nExpect: 100-continue\r\n\r\n");
	peer_head(peer, &reply);
	CHECK_EQ(reply.status, 100);
	peer_send(peer, "ab");
	sley_spawn(&group, &task, stop_task, &stopping);
	CHECK_SOON(is_refused(&serving));
	peer_send(peer, "cd");
	peer_reply(peer, &reply);
	CHECK_STR(reply.body, "POST /half abcd");
	CHECK(reply_has(&reply, "Connection: close"));
	peer_check_end(peer);
	peer_close(peer);
	sley_join(&group);
	CHECK_EQ(stopping.result, 0);
	sley_join(&serving.group);
	stop(rt);
}

/* Begins an answer that promises more, and then waits. */
static int hold_in_the_middle(struct sley_http_request *request,
			      struct sley_http_response *response, void *arg)
{
	struct held *held = arg;
	int err = sley_http_begin(response, 200, NULL);

	(void)request;
	sley_event_set(&held->begun);
	return err ? err : sley_event_wait(&held->go);
}

/* The answer has not said that it is the last one; it is, nevertheless. */
TEST_WORKERS(an_answer_that_began_before_the_stop_is_completed)
{
	struct sley *rt = start();
	struct held held = HELD_INIT;
	struct sley_group group = SLEY_GROUP_INIT;
	struct serving serving;
	struct stopping stopping = { &serving, SLEY_FOREVER, 1 };
	struct sley_task task;
	struct peer *peer;

	serving_start(&serving, hold_in_the_middle, &held, NULL);
	peer = peer_connect(&serving);
	peer_send(peer, GET("/"));
	CHECK_EQ(sley_event_wait(&held.begun), 0);
	sley_spawn(&group, &task, stop_task, &stopping);
	CHECK_SOON(is_refused(&serving));
	sley_event_set(&held.go);
	peer_head(peer, &reply);
	CHECK(strstr(reply.head, "Connection") == NULL);
	peer_body(peer, &reply, 5);
	CHECK_STR(reply.body, "0\r\n\r\n");
	peer_check_end(peer);
	peer_close(peer);
	sley_join(&group);
	CHECK_EQ(stopping.result, 0);
	sley_join(&serving.group);
	stop(rt);
}

TEST_WORKERS(a_stop_that_runs_out_of_time_cancels)
{
	struct sley *rt = start();
	struct held held = HELD_INIT;
	struct serving serving;
	struct peer *peer;

	serving_start(&serving, hold, &held, NULL);
	peer = peer_connect(&serving);
	peer_send(peer, GET("/"));
	CHECK_EQ(sley_event_wait(&held.begun), 0);
	CHECK_EQ(sley_http_server_stop_until(&serving.server, in_ms(20)),
		 -ETIMEDOUT);
	sley_join(&serving.group);
	CHECK_EQ(serving.result, -ECANCELED);
	CHECK_EQ(held.result, -ECANCELED);
	peer_reply(peer, &reply);
	CHECK_EQ(reply.status, 503);
	peer_close(peer);
	stop(rt);
}

TEST_WORKERS(a_cancel_of_the_server_ends_its_handlers)
{
	struct sley *rt = start();
	struct held held = HELD_INIT;
	struct serving serving;
	struct peer *peer, *idle;

	serving_start(&serving, hold, &held, NULL);
	idle = peer_connect(&serving);
	peer_send(idle, GET("/idle"));
	peer_reply(idle, &reply);
	peer = peer_connect(&serving);
	peer_send(peer, GET("/"));
	CHECK_EQ(sley_event_wait(&held.begun), 0);
	sley_cancel(&serving.task);
	sley_join(&serving.group);
	CHECK_EQ(serving.result, -ECANCELED);
	CHECK_EQ(held.result, -ECANCELED);
	CHECK_LE(peer_receive(idle), 0);
	peer_close(peer);
	peer_close(idle);
	stop(rt);
}

TEST_WORKERS(a_server_may_be_stopped_before_it_runs)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct serving serving;
	struct stopping stopping = { &serving, SLEY_FOREVER, 1 };
	struct sley_task task;

	CHECK_EQ(sley_http_server_open(&serving.server, "127.0.0.1:0", echo,
				       NULL, NULL),
		 0);
	sley_spawn(&group, &task, stop_task, &stopping);
	CHECK_SOON(serving.server.stops);
	CHECK_EQ(sley_http_server_run(&serving.server), 0);
	sley_join(&group);
	CHECK_EQ(stopping.result, 0);
	CHECK_EQ(sley_http_server_open(&serving.server, "127.0.0.1:0", echo,
				       NULL, NULL),
		 0);
	sley_http_server_close(&serving.server);
	stop(rt);
}

/* Clients ask as fast as they can while the server stops: each answer is whole. */
struct asking {
	struct serving *serving;
	atomic_int nr_answers;
};

static void ask_until_closed(void *arg)
{
	struct asking *asking = arg;
	struct sley_http_client client;
	char body[64];
	ssize_t n;

	if (sley_http_connect(&client, asking->serving->address))
		return;
	for (;;) {
		if (sley_http_ask(&client,
				  SLEY_HTTP_QUESTION(.target = "/a")) != 200)
			break;
		n = sley_http_answer_read(&client, body, sizeof(body));
		CHECK_EQ(n, 7);
		CHECK_EQ(memcmp(body, "GET /a ", 7), 0);
		CHECK_EQ(sley_http_answer_read(&client, body, sizeof(body)), 0);
		atomic_fetch_add(&asking->nr_answers, 1);
	}
	sley_http_client_close(&client);
}

TEST_WORKERS(a_stop_under_load_breaks_no_answer)
{
	struct sley *rt = start();

	for (int i = 0; i < test_scale(20); i++) {
		struct sley_group group = SLEY_GROUP_INIT;
		struct sley_task tasks[8];
		struct serving serving;
		struct asking asking = { .serving = &serving };

		serving_start(&serving, echo, NULL, NULL);
		for (size_t j = 0; j < ARRAY_SIZE(tasks); j++)
			sley_spawn(&group, &tasks[j], ask_until_closed,
				   &asking);
		while (atomic_load(&asking.nr_answers) < 10 * i)
			sley_yield();
		serving_stop(&serving);
		sley_join(&group);
	}
	stop(rt);
}
