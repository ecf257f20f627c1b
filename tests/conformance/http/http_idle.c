/* SPDX-License-Identifier: MIT */
/*
 * http_idle.c - <sley/http.h>: what a connection keeps while it waits for a request.
 */
#include <unistd.h>

#include "conformance/descriptors.h"
#include "conformance/http/serving.h"
#include "stream/buffer.h"

enum { NR_WARM = 50, NR_IDLE = 1000 };

/* A page of stack and less than half a page beside it; a second page is too much. */
#define IDLE_MAX 6144

static struct reply reply;

static int64_t resident_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long size, resident;

	CHECK(file != NULL);
	CHECK_EQ(fscanf(file, "%ld %ld", &size, &resident), 2);
	fclose(file);
	return (int64_t)resident * sysconf(_SC_PAGESIZE);
}

static void get(struct peer *peer)
{
	peer_send(peer, GET("/"));
}

/* The handler has to wait for the body, so the head is copied. */
static void post_in_two_parts(struct peer *peer)
{
	peer_send(peer, "POST / HTTP/1.1\r\nHost: a\r\n"
			"Content-Length: 5000\r\n\r\n");
	(void)!sley_sleep(200 * SLEY_USEC);
	for (int i = 0; i < 50; i++)
		peer_send(peer, "0123456789"
				"0123456789"
				"0123456789"
				"0123456789"
				"0123456789"
				"0123456789"
				"0123456789"
				"0123456789"
				"0123456789"
				"0123456789");
}

/* A connection that has had its answer and waits: its number. */
static int make_idle(const struct serving *serving,
		     void (*ask)(struct peer *peer))
{
	struct peer *peer = peer_connect(serving);
	int fd = peer->fd;

	ask(peer);
	peer_reply(peer, &reply);
	CHECK_EQ(reply.status, 200);
	free(peer);
	return fd;
}

static int small(struct sley_http_request *request,
		 struct sley_http_response *response, void *arg)
{
	(void)request;
	(void)arg;
	return sley_http_respond(response, 200, "text/plain", "hello", 5);
}

static void test_idle(void (*ask)(struct peer *peer))
{
	static int fds[NR_WARM + NR_IDLE];
	struct sley *rt = start();
	struct serving serving;
	int64_t before, after;
	uint64_t made;

	if (test_sanitizer() || test_emulated())
		test_skip(
			"frames are larger there, and memory is not the same");
	if (sysconf(_SC_PAGESIZE) != 4096)
		test_skip("the bound is for pages of 4 KiB");
	allow_descriptors(2 * (NR_WARM + NR_IDLE) + 100);
	serving_start(&serving, small, NULL, NULL);
	for (int i = 0; i < NR_WARM; i++)
		fds[i] = make_idle(&serving, ask);
	before = resident_bytes();
	made = buffers_made();
	for (int i = NR_WARM; i < NR_WARM + NR_IDLE; i++)
		fds[i] = make_idle(&serving, ask);
	after = resident_bytes();
	CHECK_LT((after - before) / NR_IDLE, IDLE_MAX);
	/* Each has borrowed some, and given them back. */
	CHECK_LT(buffers_made() - made, NR_IDLE / 4);
	for (int i = 0; i < NR_WARM + NR_IDLE; i++)
		CHECK_EQ(sley_io_close(fds[i]), 0);
	serving_stop(&serving);
	stop(rt);
}

TEST(an_idle_connection_keeps_one_page_of_stack)
{
	test_idle(get);
}

TEST(a_body_that_was_waited_for_leaves_no_memory_behind)
{
	test_idle(post_in_two_parts);
}
