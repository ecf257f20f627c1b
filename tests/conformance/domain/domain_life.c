/* SPDX-License-Identifier: MIT */
/*
 * domain_life.c - a runtime joins a domain, leaves it, and joins again.
 */
#include "conformance/domain/stage.h"

#include <sley/error.h>
#include <sys/wait.h>

TEST(a_runtime_joins_and_leaves)
{
	const char *path = stage_open();
	struct sley_domain_host *host = host_start_with(
		(struct sley_domain_host_options){ .nr_cores = 3 });
	struct sley *rt = start();
	struct sley_domain_member member;
	struct sley_domain_info info = info_of(rt);
	uint32_t nr_cores;

	CHECK_EQ(info.state, SLEY_DOMAIN_OUT);
	CHECK_EQ(sley_domain_join(rt, path), 0);
	info = info_of(rt);
	CHECK_EQ(info.state, SLEY_DOMAIN_IN);
	CHECK_EQ(info.index, 0);
	CHECK_EQ(info.nr_members, 1);
	CHECK_EQ(info.nr_cores, 3);
	CHECK_EQ(info.nr_joined, 1);
	CHECK_STR(info.domain, path);
	CHECK_EQ(sley_domain_list(path, &member, 1, &nr_cores), 1);
	CHECK_EQ(nr_cores, 3);
	CHECK_EQ(member.pid, getpid());
	CHECK_EQ(member.uid, getuid());
	CHECK_EQ(member.nr_workers, 2);
	CHECK_EQ(member.strict, 0);
	CHECK_STR(member.program, program_invocation_short_name);
	CHECK_EQ(sley_domain_leave(rt), 0);
	CHECK_EQ(info_of(rt).state, SLEY_DOMAIN_OUT);
	CHECK_EVENTUALLY(nr_members() == 0);
	CHECK_EQ(sley_domain_join(rt, path), 0);
	CHECK_EQ(info_of(rt).nr_joined, 2);
	CHECK_EQ(nr_members(), 1);
	stop(rt);
	CHECK_EVENTUALLY(nr_members() == 0);
	sley_domain_host_destroy(host);
	stage_close();
}

/* With the workers of the fixture, all of which run tasks meanwhile. */
static void count(void *arg)
{
	atomic_fetch_add((atomic_int *)arg, 1);
}

TEST_WORKERS(tasks_run_before_in_and_after_a_domain)
{
	const char *path = stage_open();
	struct sley_domain_host *host = host_start();
	struct sley *rt = start();
	atomic_int nr;

	atomic_init(&nr, 0);
	for (int round = 0; round < 4; round++) {
		for (int i = 0; i < 300; i++)
			CHECK_EQ(sley_schedule(count, &nr), 0);
		if (sley_nr_workers(rt) == 0)
			CHECK_EQ(sley_domain_join(rt, path), -EOPNOTSUPP);
		else if (round % 2 == 0)
			CHECK_EQ(sley_domain_join(rt, path), 0);
		else
			CHECK_EQ(sley_domain_leave(rt), 0);
	}
	EVENTUALLY(atomic_load(&nr) == 1200);
	stop(rt);
	sley_domain_host_destroy(host);
	stage_close();
}

/* By a task: it waits as a task waits. */
struct joiner {
	const char *path;
	struct sley *rt;
	int err;
};

static void join_and_leave(void *arg)
{
	struct joiner *joiner = arg;

	joiner->err = sley_domain_join(joiner->rt, joiner->path);
	if (!joiner->err)
		joiner->err = sley_domain_leave(joiner->rt);
}

TEST(a_task_may_make_its_runtime_join)
{
	struct joiner joiner = { .path = stage_open() };
	struct sley_domain_host *host = host_start();
	struct sley_config config = config_of(1);
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	joiner.rt = start_with(&config);
	sley_spawn(&group, &task, join_and_leave, &joiner);
	sley_join(&group);
	CHECK_EQ(joiner.err, 0);
	stop(joiner.rt);
	sley_domain_host_destroy(host);
	stage_close();
}

TEST(a_runtime_is_in_one_domain_at_a_time)
{
	const char *path = stage_open();
	struct sley_domain_host *host = host_start();
	struct sley *rt = start();

	CHECK_EQ(sley_domain_leave(rt), -ENOTCONN);
	CHECK_EQ(sley_domain_join(rt, path), 0);
	CHECK_EQ(sley_domain_join(rt, path), -EALREADY);
	CHECK_EQ(sley_domain_leave(rt), 0);
	CHECK_EQ(sley_domain_leave(rt), -ENOTCONN);
	stop(rt);
	sley_domain_host_destroy(host);
	stage_close();
}

TEST(two_runtimes_of_a_process_are_two_members)
{
	const char *path = stage_open();
	struct sley_domain_host *host = host_start();
	struct sley *rt[2];

	for (int i = 0; i < 2; i++) {
		CHECK_EQ(sley_create(&rt[i], test_config()), 0);
		CHECK_EQ(sley_domain_join(rt[i], path), 0);
		CHECK_EQ(info_of(rt[i]).index, i);
	}
	CHECK_EVENTUALLY(info_of(rt[0]).nr_members == 2);
	CHECK_EVENTUALLY(info_of(rt[1]).nr_members == 2);
	CHECK_EQ(sley_destroy(rt[0]), 0);
	CHECK_EVENTUALLY(info_of(rt[1]).nr_members == 1);
	CHECK_EQ(sley_destroy(rt[1]), 0);
	sley_domain_host_destroy(host);
	stage_close();
}

TEST(names_and_places_that_are_none_are_refused)
{
	static const char *const bad[] = {
		"",    ".hidden", "a/b",
		"a b", "a\n",     "a-name-that-has-more-than-31-bytes"
	};
	struct sley *rt = start();
	char path[200];

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		CHECK_EQ(sley_domain_join(rt, bad[i]), -EINVAL);
		CHECK_EQ(sley_domain_list(bad[i], NULL, 0, NULL), -EINVAL);
	}
	memset(path, 'x', sizeof(path) - 1);
	path[0] = '/';
	path[108] = 0;
	CHECK_EQ(sley_domain_join(rt, path), -ENAMETOOLONG);
	CHECK_EQ(info_of(rt).state, SLEY_DOMAIN_OUT);
	stop(rt);
}

TEST(a_domain_without_a_host_and_a_sleyd_is_not_joined)
{
	const char *path = stage_open();
	struct sley *rt = start();

	CHECK_EQ(sley_domain_join(rt, path), -ENOENT);
	CHECK_EQ(nr_members(), -ENOENT);
	/* A program that says that it cannot, and one that says nothing but lies. */
	CHECK_EQ(setenv("SLEY_SLEYD", "false", 1), 0);
	CHECK_EQ(sley_domain_join(rt, path), -EPIPE);
	CHECK_EQ(setenv("SLEY_SLEYD", "true", 1), 0);
	CHECK_EQ(sley_domain_join(rt, path), -ENOENT);
	CHECK_EQ(info_of(rt).state, SLEY_DOMAIN_OUT);
	stop(rt);
	stage_close();
}

TEST(a_configuration_names_the_domain)
{
	struct sley_config config = *test_config();
	struct sley_domain_host *host;
	struct sley *rt;

	config.domain = stage_open();
	config.strict = 1;
	host = host_start();
	rt = start_with(&config);
	CHECK_EQ(info_of(rt).state, SLEY_DOMAIN_IN);
	CHECK_EQ(info_of(rt).strict, 1);
	CHECK_EQ(member_at(0).strict, 1);
	CHECK_EQ(sley_get_config(rt, &config), 0);
	CHECK_STR(config.domain, info_of(rt).domain);
	stop(rt);
	sley_domain_host_destroy(host);
	stage_close();
}

TEST(the_environment_names_the_domain)
{
	const char *path = stage_open();
	struct sley_domain_host *host = host_start();
	struct sley_config config = *test_config();
	struct sley *rt;

	CHECK_EQ(setenv("SLEY_DOMAIN", path, 1), 0);
	CHECK_EQ(setenv("SLEY_DOMAIN_STRICT", "1", 1), 0);
	rt = start();
	CHECK_EQ(info_of(rt).state, SLEY_DOMAIN_IN);
	CHECK_EQ(info_of(rt).strict, 1);
	stop(rt);
	CHECK_EQ(setenv("SLEY_DOMAIN", "", 1), 0);
	rt = start();
	CHECK_EQ(info_of(rt).state, SLEY_DOMAIN_OUT);
	stop(rt);
	config.report = stage_report;
	CHECK_EQ(setenv("SLEY_DOMAIN_STRICT", "very", 1), 0);
	CHECK_EQ(sley_create(&rt, &config), -EINVAL);
	CHECK(strstr(stage_line(), "SLEY_DOMAIN_STRICT=very"));
	config.strict = 2;
	CHECK_EQ(unsetenv("SLEY_DOMAIN_STRICT"), 0);
	CHECK_EQ(sley_create(&rt, &config), -EINVAL);
	sley_domain_host_destroy(host);
	stage_close();
}

TEST(a_program_goes_on_without_the_domain_that_it_named)
{
	struct sley_config config = *test_config();
	struct sley *rt;

	config.domain = stage_open();
	config.report = stage_report;
	rt = start_with(&config);
	CHECK(strstr(stage_line(), "goes on without"));
	CHECK(strstr(stage_line(), "install it"));
	CHECK_EQ(info_of(rt).state, SLEY_DOMAIN_OUT);
	CHECK_EQ(sley_get_config(rt, &config), 0);
	CHECK(config.domain == NULL);
	stop(rt);
	stage_close();
}

TEST(u07_a_member_chooses_between_strict_and_relaxed_at_any_time)
{
	const char *path = stage_open();
	struct sley_domain_host *host = host_start();
	struct sley *rt = start();

	CHECK_EQ(sley_domain_set_strict(rt, true), 0);
	CHECK_EQ(info_of(rt).strict, 1);
	CHECK_EQ(sley_domain_join(rt, path), 0);
	CHECK_EQ(member_at(0).strict, 1);
	CHECK_EQ(sley_domain_set_strict(rt, false), 0);
	CHECK_EQ(info_of(rt).strict, 0);
	CHECK_EQ(member_at(0).strict, 0);
	stop(rt);
	sley_domain_host_destroy(host);
	stage_close();
}

TEST(a_child_of_fork_is_no_member)
{
	const char *path = stage_open();
	struct sley_domain_host *host = host_start();
	struct sley *rt = start();
	struct sley_domain_info info = { .size = sizeof(info) };
	int pid, status;

	CHECK_EQ(sley_domain_join(rt, path), 0);
	pid = fork();
	if (!pid) {
		CHECK_EQ(sley_domain_join(rt, path), SLEY_EFORKED);
		CHECK_EQ(sley_domain_leave(rt), SLEY_EFORKED);
		CHECK_EQ(sley_domain_set_strict(rt, true), SLEY_EFORKED);
		CHECK_EQ(sley_domain_info(rt, &info), SLEY_EFORKED);
		sley_domain_host_destroy(host);
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	CHECK_EQ(nr_members(), 1);
	stop(rt);
	sley_domain_host_destroy(host);
	stage_close();
}

TEST(options_of_a_host_are_checked)
{
	struct sley_domain_host_options newer = { .size = sizeof(newer),
						  .name = "x",
						  .reserved = { [5] = 1 } };
	const char *path = stage_open();
	struct sley_domain_host *host, *second;

	CHECK_EQ(sley_domain_host_create(&host, NULL), -EINVAL);
	CHECK_EQ(sley_domain_host_create(&host, &newer), -E2BIG);
	CHECK_EQ(sley_domain_host_create(
			 &host, SLEY_DOMAIN_HOST_OPTIONS(.name = "a/b")),
		 -EINVAL);
	CHECK_EQ(
		sley_domain_host_create(
			&host,
			SLEY_DOMAIN_HOST_OPTIONS(.name = path,
						 .nr_cores =
							 SLEY_DOMAIN_CORES_MAX +
							 1)),
		-EINVAL);
	host = host_start();
	CHECK_EQ(sley_domain_host_create(
			 &second, SLEY_DOMAIN_HOST_OPTIONS(.name = path)),
		 -EADDRINUSE);
	sley_domain_host_destroy(host);
	sley_domain_host_destroy(NULL);
	stage_close();
}
