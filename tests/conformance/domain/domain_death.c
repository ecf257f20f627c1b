/* SPDX-License-Identifier: MIT */
/*
 * domain_death.c - a host or a member is killed, stopped, started again: all others go on.
 */
#include "conformance/domain/stage.h"

#include <signal.h>

static bool has_state(struct actor *actor, enum sley_domain_state state)
{
	return actor_do(actor, ACTOR_STATE) == (int)state;
}

TEST(ru7_a_killed_member_leaves_nothing_behind)
{
	struct sley_domain_host *host;
	struct actor victim, other;
	struct sley_domain_member member;

	stage_open();
	actor_start(&victim);
	actor_start(&other);
	host = host_start();
	CHECK_EQ(actor_do(&victim, ACTOR_JOIN), 0);
	CHECK_EQ(actor_do(&other, ACTOR_JOIN), 0);
	CHECK_EQ(nr_members(), 2);
	actor_kill(&victim);
	CHECK_EVENTUALLY(nr_members() == 1);
	member = member_at(0);
	CHECK_EQ(member.pid, other.pid);
	CHECK_EQ(actor_do(&other, ACTOR_WORK), 0);
	CHECK(has_state(&other, SLEY_DOMAIN_IN));
	actor_end(&other);
	sley_domain_host_destroy(host);
	stage_close();
}

TEST(members_of_a_killed_host_go_on_and_join_the_next)
{
	struct actor member[3], host[2];

	stage_open();
	for (int i = 0; i < 2; i++)
		actor_start(&host[i]);
	for (int i = 0; i < 3; i++)
		actor_start(&member[i]);
	CHECK_EQ(actor_do(&host[0], ACTOR_HOST), 0);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(actor_do(&member[i], ACTOR_JOIN), 0);
	actor_kill(&host[0]);
	for (int i = 0; i < 3; i++) {
		CHECK_EVENTUALLY(has_state(&member[i], SLEY_DOMAIN_ALONE));
		CHECK_EQ(actor_do(&member[i], ACTOR_WORK), 0);
	}
	CHECK_EQ(actor_do(&host[1], ACTOR_HOST), 0);
	for (int i = 0; i < 3; i++) {
		CHECK_EVENTUALLY(has_state(&member[i], SLEY_DOMAIN_IN));
		CHECK_EQ(actor_do(&member[i], ACTOR_WORK), 0);
	}
	CHECK_EQ(nr_members(), 3);
	for (int i = 0; i < 3; i++)
		actor_end(&member[i]);
	CHECK_EVENTUALLY(nr_members() == 0);
	actor_kill(&host[1]);
	stage_close();
}

TEST(a_member_may_leave_while_it_looks_for_the_next_host)
{
	struct actor member, host;

	stage_open();
	actor_start(&host);
	actor_start(&member);
	CHECK_EQ(actor_do(&host, ACTOR_HOST), 0);
	CHECK_EQ(actor_do(&member, ACTOR_JOIN), 0);
	actor_kill(&host);
	CHECK_EVENTUALLY(has_state(&member, SLEY_DOMAIN_ALONE));
	CHECK_EQ(actor_do(&member, ACTOR_LEAVE), 0);
	CHECK(has_state(&member, SLEY_DOMAIN_OUT));
	CHECK_EQ(actor_do(&member, ACTOR_WORK), 0);
	actor_end(&member);
	stage_close();
}

TEST(a_program_may_end_while_it_looks_for_the_next_host)
{
	struct actor member, host;

	stage_open();
	actor_start(&host);
	actor_start(&member);
	CHECK_EQ(actor_do(&host, ACTOR_HOST), 0);
	CHECK_EQ(actor_do(&member, ACTOR_JOIN), 0);
	actor_kill(&host);
	CHECK_EVENTUALLY(has_state(&member, SLEY_DOMAIN_ALONE));
	actor_end(&member);
	stage_close();
}

TEST(a_stopped_member_holds_nobody_up)
{
	struct sley_domain_host *host;
	struct actor stopped, others[2];

	stage_open();
	actor_start(&stopped);
	for (int i = 0; i < 2; i++)
		actor_start(&others[i]);
	host = host_start();
	CHECK_EQ(actor_do(&stopped, ACTOR_JOIN), 0);
	CHECK_EQ(actor_do(&others[0], ACTOR_JOIN), 0);
	actor_signal(&stopped, SIGSTOP);
	CHECK_EQ(actor_do(&others[0], ACTOR_WORK), 0);
	CHECK_EQ(actor_do(&others[1], ACTOR_JOIN), 0);
	CHECK_EQ(actor_do(&others[1], ACTOR_WORK), 0);
	CHECK_EQ(actor_do(&others[1], ACTOR_LEAVE), 0);
	CHECK_EVENTUALLY(nr_members() == 2);
	actor_signal(&stopped, SIGCONT);
	CHECK_EQ(actor_do(&stopped, ACTOR_WORK), 0);
	CHECK(has_state(&stopped, SLEY_DOMAIN_IN));
	actor_end(&stopped);
	for (int i = 0; i < 2; i++)
		actor_end(&others[i]);
	sley_domain_host_destroy(host);
	stage_close();
}

TEST(a_stopped_host_holds_no_member_up)
{
	struct actor member[2], host;

	stage_open();
	actor_start(&host);
	for (int i = 0; i < 2; i++)
		actor_start(&member[i]);
	CHECK_EQ(actor_do(&host, ACTOR_HOST), 0);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(actor_do(&member[i], ACTOR_JOIN), 0);
	/* It answers when it has introduced both: one that knows no other needs no host. */
	CHECK_EVENTUALLY(nr_members() == 2);
	actor_signal(&host, SIGSTOP);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(actor_do(&member[i], ACTOR_WORK), 0);
	for (int i = 0; i < 2; i++)
		CHECK_EVENTUALLY(has_state(&member[i], SLEY_DOMAIN_ALONE));
	actor_signal(&host, SIGCONT);
	for (int i = 0; i < 2; i++)
		CHECK_EVENTUALLY(has_state(&member[i], SLEY_DOMAIN_IN));
	actor_kill(&host);
	for (int i = 0; i < 2; i++)
		actor_end(&member[i]);
	stage_close();
}
