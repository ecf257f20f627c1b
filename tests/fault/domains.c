/* SPDX-License-Identifier: MIT */
/*
 * domains.c - a host, a member and a list, all in one process, where calls fail: what was
 * asked for fails with the error that happened, or, behind the socket, with what the other
 * side can know: that it was sent away, or that nobody is there any more.
 */
#include "fault/sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sley/domain.h>
#include <sley/domain_host.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static char folder[64], path[80];

/* What either side lacks. */
#define SHORTAGES                                                              \
	-ENOMEM, -EMFILE, -ENFILE, -ENOSPC, -ENOBUFS, -EPERM, -EACCES,         \
		-EAGAIN, -ENOSYS, -ECONNREFUSED

/* The host can accept nobody for ever, which its log says. */
#define NOT_ANSWERED 1

/* That nobody hosts the domain is what a refused connection means. */
static int result_of(int result)
{
	if (result == -ETIMEDOUT && trial_may_give_up())
		return NOT_ANSWERED;
	return result == -ENOENT ? -ECONNREFUSED : result;
}

static int list(void)
{
	struct sley_domain_member member;
	int result = result_of(sley_domain_list(path, &member, 1, NULL));

	/* A host that cannot send a list hangs up, as one that has ended. */
	return result == -ECONNREFUSED && trial_struck() ? 0 : result;
}

static int join(struct sley *rt)
{
	struct sley_domain_info info = { .size = sizeof(info) };
	int result = result_of(sley_domain_join(rt, path));

	if (result)
		return result;
	CHECK_EQ(sley_domain_info(rt, &info), 0);
	/* A host that could not speak to the member has sent it away. */
	CHECK(info.state == SLEY_DOMAIN_IN || trial_struck());
	return 0;
}

static void sleep_once(void *arg)
{
	*(int *)arg = sley_suspend();
}

/* By @other, where calls may have failed: then there is no line, or no membership. */
static int wake_by(struct sley *rt, struct sley *other, uint64_t id)
{
	struct sley_domain_waker waker;
	int err = sley_domain_share_waker(rt, id, &waker);

	if (!err)
		CHECK_EVENTUALLY((err = sley_domain_wake(other, &waker)) !=
					 -EAGAIN ||
				 trial_may_give_up());
	return trial_struck() ? 0 : err;
}

static int wake(struct sley *rt, struct sley *other)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_waker waker;
	struct sley_task task;
	int result = 1, err;

	err = sley_spawn_on(rt, &group, &task, sleep_once, &result,
			    SLEY_OPTIONS(.waker = &waker));
	if (err)
		return err;
	err = wake_by(rt, other, waker.id);
	if (trial_struck())
		(void)sley_wake(&waker); /* it may have been heard */
	sley_join(&group);
	CHECK(result == 0 || result == -ENOMEM);
	return err;
}

/* A host that does not answer a first time never will, and each time takes 10 s. */
static bool joins(struct sley *rt)
{
	struct sley_domain_info info = { .size = sizeof(info) };

	if (!TRY(join(rt), SHORTAGES))
		return false;
	CHECK_EQ(sley_domain_info(rt, &info), 0);
	return info.state != SLEY_DOMAIN_OUT;
}

static void join_and_list(struct sley *rt)
{
	struct sley *other;

	if (!joins(rt))
		return;
	/* A peer, whose page is mapped. */
	other = trial_start(1);
	if (other) {
		if (joins(other)) {
			(void)TRY(list(), SHORTAGES);
			(void)TRY(wake(rt, other), -ENOMEM);
		}
		trial_stop(other);
	}
	CHECK_EQ(sley_domain_leave(rt), 0);
}

SCENARIO(domains)
{
	struct sley_domain_host *host;
	struct sley *rt = trial_start(2);

	if (!rt)
		return;
	trial_mark();
	CHECK_EQ(setenv("SLEY_SLEYD", "/nonexistent/sleyd", 1), 0);
	snprintf(folder, sizeof(folder), "/tmp/sley-fault-XXXXXX");
	CHECK(mkdtemp(folder) != NULL);
	snprintf(path, sizeof(path), "%s/s", folder);
	if (TRY(sley_domain_host_create(
			&host,
			SLEY_DOMAIN_HOST_OPTIONS(.name = path,
						 .report = trial_note_report)),
		SHORTAGES, -EADDRINUSE)) {
		/* To a list that looks as if nobody hosted the domain. */
		trial_may_absorb("connect");
		/* A wake is tried again. */
		trial_may_absorb("os_seqpacket_try_send");
		join_and_list(rt);
		sley_domain_host_destroy(host);
	}
	CHECK_EQ(rmdir(folder), 0);
	trial_stop(rt);
}

static bool joins_nobody(void *self, const struct sley_domain_peer *peer)
{
	(void)self;
	(void)peer;
	return false;
}

/* 0: sent away, as it must be. */
static int be_sent_away(struct sley *rt)
{
	int result = result_of(sley_domain_join(rt, path));

	CHECK(result != 0);
	return result == -EACCES ? 0 : result;
}

/* The host sends everybody away, and may not be able to say so. */
SCENARIO(domains_that_let_nobody_in)
{
	struct sley_domain_host *host;
	struct sley *rt = trial_start(1);

	if (!rt)
		return;
	CHECK_EQ(setenv("SLEY_SLEYD", "/nonexistent/sleyd", 1), 0);
	snprintf(folder, sizeof(folder), "/tmp/sley-fault-XXXXXX");
	CHECK(mkdtemp(folder) != NULL);
	snprintf(path, sizeof(path), "%s/s", folder);
	if (TRY(sley_domain_host_create(
			&host,
			SLEY_DOMAIN_HOST_OPTIONS(.name = path,
						 .may_join = joins_nobody,
						 .report = trial_note_report)),
		SHORTAGES, -EADDRINUSE)) {
		trial_mark();
		/* The host has just said a line, and says few. */
		trial_may_absorb("accept4");
		(void)TRY(be_sent_away(rt), SHORTAGES);
		sley_domain_host_destroy(host);
	}
	CHECK_EQ(rmdir(folder), 0);
	trial_stop(rt);
}

/* ---- a host without descriptors ------------------------------------------------------ */

static atomic_bool cannot_accept;

static void note_shortage(void *self, const char *line)
{
	(void)self;
	if (strstr(line, "cannot accept"))
		atomic_store(&cannot_accept, true);
}

/* No call of this process gets a new descriptor, until the limit is put back. */
static struct rlimit take_descriptors(int highest)
{
	struct rlimit before, none;
	int next = fcntl(highest, F_DUPFD_CLOEXEC, 0);

	CHECK(next >= 0);
	CHECK_EQ(close(next), 0);
	CHECK_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){ (rlim_t)next, before.rlim_max };
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
	return before;
}

/* A process that connects, and waits for what the host says. */
static int visit(void)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int visitor = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct rlimit before;

	CHECK(visitor >= 0);
	snprintf(name.sun_path, sizeof(name.sun_path), "%s", path);
	before = take_descriptors(visitor);
	CHECK_EQ(connect(visitor, (const struct sockaddr *)&name, sizeof(name)),
		 0);
	CHECK_EVENTUALLY(cannot_accept || trial_struck());
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
	return visitor;
}

/* The host accepts, and sends away a process that says nothing of use. */
static void be_accepted(int visitor)
{
	struct pollfd answer = { .fd = visitor, .events = POLLIN };

	CHECK_EQ(send(visitor, "?", 1, MSG_NOSIGNAL), 1);
	while (poll(&answer, 1, 200) == 0)
		if (trial_struck())
			return; /* perhaps for ever: it is told of nobody */
}

/* A host with no descriptor for a visitor listens again when it has one. */
SCENARIO(domains_that_accept_again)
{
	struct sley_domain_host *host;
	int visitor;

	snprintf(folder, sizeof(folder), "/tmp/sley-fault-XXXXXX");
	CHECK(mkdtemp(folder) != NULL);
	snprintf(path, sizeof(path), "%s/s", folder);
	if (TRY(sley_domain_host_create(
			&host,
			SLEY_DOMAIN_HOST_OPTIONS(.name = path,
						 .report = note_shortage)),
		SHORTAGES, -EADDRINUSE)) {
		trial_mark();
		/* The host has just told of the shortage, and says few lines. */
		trial_may_absorb("accept4");
		trial_may_absorb("os_epoll_add");
		trial_may_absorb("os_seqpacket_send");
		visitor = visit();
		be_accepted(visitor);
		CHECK_EQ(close(visitor), 0);
		sley_domain_host_destroy(host);
	}
	CHECK_EQ(rmdir(folder), 0);
}

/* ---- no host ------------------------------------------------------------------------- */

/* Nobody hosts: a program is started that cannot either, and says so. */
static int join_nothing(struct sley *rt)
{
	int err = sley_domain_join(rt, "/tmp/sley-fault-none/s");

	return err == -EPIPE ? 0 : result_of(err);
}

SCENARIO(domains_without_a_host)
{
	struct sley *rt = trial_start(1);

	if (!rt)
		return;
	trial_mark();
	CHECK_EQ(setenv("SLEY_SLEYD", "false", 1), 0);
	/* Refused, or no such file: nobody is there. */
	trial_may_absorb("connect");
	(void)TRY(join_nothing(rt), SHORTAGES);
	trial_stop(rt);
}
