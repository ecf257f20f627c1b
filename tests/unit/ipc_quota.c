/* SPDX-License-Identifier: MIT */
/*
 * ipc_quota.c - clients and requests of users are counted.
 */
#include "harness/test.h"

#include "ipc/quota.h"

#include <errno.h>

static struct quota quota;
static struct quota_user *user, *other;

static void begin(uint32_t clients, uint32_t each, uint32_t requests)
{
	CHECK_EQ(quota_init(&quota, &sley__program_mem, clients, each,
			    requests),
		 0);
}

static void end(void)
{
	quota_end(&quota, &sley__program_mem);
}

TEST(a_user_has_so_many_clients)
{
	begin(4, 2, 10);
	CHECK_EQ(quota_enter(&quota, 1000, &user), 0);
	CHECK_EQ(quota_enter(&quota, 1000, &other), 0);
	CHECK(user == other);
	CHECK_EQ(quota_enter(&quota, 1000, &other), -EDQUOT);
	CHECK_EQ(quota_enter(&quota, 1001, &other), 0);
	CHECK(user != other);
	quota_leave(&quota, user);
	CHECK_EQ(quota_enter(&quota, 1000, &user), 0);
	end();
}

TEST(there_are_so_many_clients_in_all)
{
	begin(2, 2, 10);
	CHECK_EQ(quota_enter(&quota, 1, &user), 0);
	CHECK_EQ(quota_enter(&quota, 2, &other), 0);
	CHECK_EQ(quota_enter(&quota, 3, &user), -ENOSPC);
	quota_leave(&quota, other);
	CHECK_EQ(quota_enter(&quota, 3, &user), 0);
	end();
}

TEST(requests_above_the_limit_are_not_taken)
{
	begin(2, 2, 10);
	CHECK_EQ(quota_enter(&quota, 1, &user), 0);
	CHECK_EQ(quota_take(user, 8), 8);
	CHECK_EQ(quota_take(user, 8), 2);
	CHECK_EQ(quota_requests(user), 10);
	CHECK_EQ(quota_take(user, 8), 0);
	end();
}

TEST(the_end_of_a_request_says_that_a_ring_is_held)
{
	begin(2, 2, 2);
	CHECK_EQ(quota_enter(&quota, 1, &user), 0);
	CHECK_EQ(quota_take(user, 2), 2);
	CHECK(!quota_give(user, 0));
	CHECK_EQ(quota_take(user, 1), 0);
	CHECK(quota_give(user, 1));
	CHECK(!quota_give(user, 1));
	CHECK_EQ(quota_requests(user), 0);
	end();
}
