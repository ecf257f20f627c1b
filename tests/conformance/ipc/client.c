/* SPDX-License-Identifier: MIT */
/*
 * client.c - <sley/client.h>: opening, requests of all sizes, batches, back-pressure,
 * closing: C36, C37, C39, R-C3.
 */
#include "conformance/ipc/keeper.h"

/* ---- one request ---------------------------------------------------------------------- */

CLIENT_TEST(a_client_calls_a_method_of_a_daemon)
{
	struct sley_client *client = client_open(keeper);
	struct sley_pool *pool = work_pool(client);
	uint64_t in = 0x1234567812345678, out = 0;
	size_t size = 0;

	CHECK_EQ(sley_pool_nr_containers(pool), 2);
	CHECK_STR(sley_pool_name(pool), "work");
	for (int i = 0; i < 100; i++, in++) {
		CHECK_EQ(sley_pool_call(
				 pool,
				 SLEY_REQUEST(.method = WORK_ECHO, .in = &in,
					      .in_size = sizeof(in),
					      .out = &out,
					      .out_size = sizeof(out)),
				 &size),
			 0);
		CHECK_EQ(size, sizeof(out));
		CHECK(out == in);
	}
	client_close(client, pool);
}
