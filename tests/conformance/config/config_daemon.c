/* SPDX-License-Identifier: MIT */
/*
 * config_daemon.c - "daemon" in a configuration file, and isolated pools: C51.
 */
#include "conformance/config/said.h"

#include <sley/subprocess.h>

#define ALL_RIGHTS                                                             \
	(SLEY_CONFIG_MAY_SUBMIT | SLEY_CONFIG_MAY_CREATE |                     \
	 SLEY_CONFIG_MAY_UPGRADE | SLEY_CONFIG_MAY_STOP |                      \
	 SLEY_CONFIG_MAY_LOOK | SLEY_CONFIG_MAY_JOIN)

TEST(c51_a_daemon_hosts_the_domain_of_the_file)
{
	struct sley_config_file *file = parse_good("daemon:\n"
						   "  domain: main\n"
						   "  domain_mode: 0660\n"
						   "  domain_cores: 256\n"
						   "  domain_age_ms: 20\n"
						   "  domain_share_by: user\n");
	const struct sley_config_daemon *daemon = sley_config_file_daemon(file);

	CHECK_STR(daemon->domain, "main");
	CHECK_EQ(daemon->domain_mode, 0660);
	CHECK_EQ(daemon->domain_cores, 256);
	CHECK_EQ(daemon->domain_age_ms, 20);
	CHECK_EQ(daemon->domain_share_by_user, 1);
	sley_config_file_free(file);
}

TEST(c51_an_entry_of_users_says_what_members_may_have)
{
	struct sley_config_file *file =
		parse_good("daemon:\n"
			   "  users:\n"
			   "    - user: anna\n"
			   "      may: [ look, join ]\n"
			   "      domain_priority: -32\n"
			   "      domain_share: 10000\n"
			   "    - group: staff\n"
			   "      may: join\n"
			   "      domain_priority: 0\n"
			   "    - everybody: true\n"
			   "      may: join\n"
			   "      domain_share: 1\n"
			   "    - user: bert\n"
			   "      may: submit\n"
			   "      domain_priority: 7\n");
	const struct sley_config_user *users =
		sley_config_file_daemon(file)->users;

	CHECK(users[0].has_domain_priority);
	CHECK_EQ(users[0].domain_priority, -32);
	CHECK_EQ(users[0].domain_share, 10000);
	CHECK(users[1].has_domain_priority);
	CHECK_EQ(users[1].domain_priority, 0);
	CHECK_EQ(users[1].domain_share, 0);
	CHECK(!users[2].has_domain_priority);
	CHECK_EQ(users[2].domain_share, 1);
	CHECK(users[3].has_domain_priority);
	CHECK_EQ(users[3].domain_priority, 7);
	CHECK_EQ(sley_config_file_daemon(file)->domain_share_by_user, 0);
	sley_config_file_free(file);
}

TEST(c51_a_program_joins_the_domain_of_the_file)
{
	struct sley_config_file *file = parse_good("runtime:\n"
						   "  domain: work\n"
						   "  domain_strict: on\n");
	const struct sley_config *config = sley_config_file_runtime(file);

	CHECK_STR(config->domain, "work");
	CHECK_EQ(config->strict, 1);
	sley_config_file_free(file);
}

TEST(c51_every_key_of_a_daemon_sets_its_field)
{
	struct sley_config_file *file =
		parse_good("daemon:\n"
			   "  socket: /run/x/y.sock\n"
			   "  mode: 0660\n"
			   "  name: store\n"
			   "  user: nobody\n"
			   "  max_clients: 7\n"
			   "  max_clients_per_user: 3\n"
			   "  max_requests_per_user: 99\n"
			   "  max_segment_bytes: 1099511627776\n"
			   "  max_depth: 64\n"
			   "  max_slot_size: 512\n"
			   "  grace_ms: 250\n"
			   "  state_dir: /var/lib/x\n"
			   "  pid_file: /run/x/pid\n"
			   "  seccomp: off\n");
	const struct sley_config_daemon *daemon = sley_config_file_daemon(file);

	CHECK_STR(daemon->socket, "/run/x/y.sock");
	CHECK_EQ(daemon->mode, 0660);
	CHECK_STR(daemon->name, "store");
	CHECK_STR(daemon->user, "nobody");
	CHECK_EQ(daemon->max_clients, 7);
	CHECK_EQ(daemon->max_clients_per_user, 3);
	CHECK_EQ(daemon->max_requests_per_user, 99);
	CHECK_EQ(daemon->max_segment_bytes, (uint64_t)1 << 40);
	CHECK_EQ(daemon->max_depth, 64);
	CHECK_EQ(daemon->max_slot_size, 512);
	CHECK_EQ(daemon->grace_ms, 250);
	CHECK_STR(daemon->state_dir, "/var/lib/x");
	CHECK_STR(daemon->pid_file, "/run/x/pid");
	CHECK_EQ(daemon->no_seccomp, 1);
	CHECK_EQ(daemon->nr_users, 0);
	CHECK_STR(value_of(file, "daemon.mode")->text, "0660");
	CHECK_EQ(value_of(file, "daemon.grace_ms")->line, 12);
	sley_config_file_free(file);
}

TEST(c51_a_daemon_of_which_nothing_is_said_filters_and_has_no_users)
{
	struct sley_config_file *file = parse_good("daemon:\n");
	const struct sley_config_daemon *daemon = sley_config_file_daemon(file);

	CHECK_EQ(daemon->no_seccomp, 0);
	CHECK_EQ(daemon->nr_users, 0);
	CHECK(!daemon->socket && !daemon->user && !daemon->state_dir);
	CHECK_STR(value_of(file, "daemon.mode")->text, "0600");
	CHECK_STR(value_of(file, "daemon.seccomp")->text, "true");
	sley_config_file_free(file);
}

TEST(c51_users_have_the_rights_that_their_entry_lists)
{
	struct sley_config_file *file = parse_good(
		"daemon:\n"
		"  users:\n"
		"    - user: ada\n"
		"      may: [ submit, create, upgrade, stop, look, join ]\n"
		"    - group: 1000\n"
		"      may: [ look ]\n"
		"    - everybody: yes\n"
		"      may: submit\n");
	const struct sley_config_daemon *daemon = sley_config_file_daemon(file);

	CHECK_EQ(daemon->nr_users, 3);
	CHECK_STR(daemon->users[0].user, "ada");
	CHECK_EQ(daemon->users[0].may, ALL_RIGHTS);
	CHECK_EQ(daemon->users[0].line, 3);
	CHECK_STR(daemon->users[1].group, "1000");
	CHECK_EQ(daemon->users[1].may, SLEY_CONFIG_MAY_LOOK);
	CHECK(daemon->users[2].everybody);
	CHECK_EQ(daemon->users[2].may, SLEY_CONFIG_MAY_SUBMIT);
	CHECK(!daemon->users[2].user && !daemon->users[2].group);
	CHECK_STR(value_of(file, "daemon.users")->text, "3 in all");
	sley_config_file_free(file);
}

TEST(c51_pools_may_be_isolated)
{
	struct sley_config_file *file =
		parse_good("compose:\n"
			   "  - { mod_name: a, pool_name: b, isolated: true,\n"
			   "      max_restarts: never, limit_ms: 50 }\n");
	const struct sley_config_pool *pool = sley_config_file_pool(file, 0);

	CHECK(pool->isolated);
	CHECK_EQ(pool->max_restarts, SLEY_SUBPROCESS_NEVER);
	CHECK_EQ(pool->limit_ms, 50);
	sley_config_file_free(file);
}

#define DAEMON(line) "daemon:\n  " line "\n"
#define USERS(entry) "daemon:\n  users:\n    - " entry "\n"

struct refused {
	const char *text, *said;
};

static void check_refused(const struct refused *mistakes, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct sley_config_file *file = NULL;
		struct said said;
		int err = parse(&file, mistakes[i].text, &said);

		CHECK_STR(said.text, mistakes[i].said);
		CHECK_EQ(err, -EINVAL);
		CHECK(file == NULL);
	}
}

TEST(c51_mistakes_about_members_of_a_domain_have_their_line_and_reason)
{
	static const struct refused mistakes[] = {
		{ DAEMON("domain_share_by: group"),
		  "t:2:20: 'domain_share_by' wants process or user, and this "
		  "is 'group'\n" },
		{ USERS("{ user: a, may: join, domain_priority: 32 }"),
		  "t:3:46: 'domain_priority' wants a priority from -32, the "
		  "most urgent, to 31, and this is '32'\n" },
		{ USERS("{ user: a, may: join, domain_priority: -33 }"),
		  "t:3:46: 'domain_priority' wants a priority from -32, the "
		  "most urgent, to 31, and this is '-33'\n" },
		{ USERS("{ user: a, may: join, domain_priority: --1 }"),
		  "t:3:46: 'domain_priority' wants a priority from -32, the "
		  "most urgent, to 31, and this is '--1'\n" },
		{ USERS("{ user: a, may: join, domain_priority: '-' }"),
		  "t:3:46: 'domain_priority' wants a priority from -32, the "
		  "most urgent, to 31, and this is '-'\n" },
		{ USERS("{ user: a, may: join, domain_priority: 5x }"),
		  "t:3:46: 'domain_priority' wants a priority from -32, the "
		  "most urgent, to 31, and this is '5x'\n" },
		{ USERS("{ user: a, may: join, domain_share: 0 }"),
		  "t:3:43: 'domain_share' wants a number from 1 to 10000, and "
		  "this is '0'\n" },
		{ USERS("{ user: a, may: join, domain_share: 10001 }"),
		  "t:3:43: 'domain_share' wants a number from 1 to 10000, and "
		  "this is '10001'\n" },
		{ USERS("{ user: a, may: look, domain_share: 5 }"),
		  "t:3:43: 'domain_share' needs the right 'join': add it to "
		  "'may', or take the key out\n" },
		{ USERS("{ user: a, may: submit, domain_share: 5 }"),
		  "t:3:45: 'domain_share' needs the right 'join': add it to "
		  "'may', or take the key out\n" },
		{ USERS("{ everybody: on, may: look, domain_priority: 0 }"),
		  "t:3:52: 'domain_priority' needs the right 'join' or "
		  "'submit': add it to 'may', or take the key out\n" },
	};

	check_refused(mistakes, ARRAY_SIZE(mistakes));
}

TEST(c51_mistakes_about_a_daemon_have_their_line_and_reason)
{
	static const struct refused mistakes[] = {
		{ DAEMON("sockets: /x"),
		  "t:2:3: there is no key 'sockets' in 'daemon'; did you mean "
		  "'socket'?\n" },
		{ DAEMON("socket: x.sock"),
		  "t:2:11: 'socket' wants an absolute path of 107 bytes at "
		  "most, and this is 'x.sock'\n" },
		{ DAEMON("mode: 0999"),
		  "t:2:9: 'mode' wants rights of a file as 0660, with 6 for "
		  "the user, and this is '0999'\n" },
		{ DAEMON("mode: 60"),
		  "t:2:9: 'mode' wants rights of a file as 0660, with 6 for "
		  "the user, and this is '60'\n" },
		{ DAEMON("mode: 04755"),
		  "t:2:9: 'mode' wants rights of a file as 0660, with 6 for "
		  "the user, and this is '04755'\n" },
		{ DAEMON("mode: 0066"),
		  "t:2:9: 'mode' wants rights of a file as 0660, with 6 for "
		  "the user, and this is '0066'\n" },
		{ DAEMON("max_clients: 0"),
		  "t:2:16: 'max_clients' wants a number from 1 to 65536, and "
		  "this is '0'\n" },
		{ DAEMON("seccomp: maybe"),
		  "t:2:12: 'seccomp' wants true, false, on or off, and this "
		  "is 'maybe'\n" },
		{ DAEMON("users: ada"),
		  "t:2:10: 'users' wants a list of 1 to 1000 entries, as '- "
		  "user: NAME' with 'may: [ submit ]' below it\n" },
		{ USERS("user: ada"),
		  "t:3:7: an entry of 'users' needs the key 'may'\n" },
		{ USERS("may: look"),
		  "t:3:7: an entry of 'users' needs one of 'user', 'group' and "
		  "'everybody: true', and this has none\n" },
		{ USERS("{ user: a, group: b, may: look }"),
		  "t:3:7: an entry of 'users' needs one of 'user', 'group' and "
		  "'everybody: true', and this has several\n" },
		{ USERS("{ everybody: no, may: look }"),
		  "t:3:7: an entry of 'users' needs one of 'user', 'group' and "
		  "'everybody: true', and this has none\n" },
		{ USERS("{ user: a, may: [ look, fly ] }"),
		  "t:3:31: 'may' wants submit, create, upgrade, stop, look or "
		  "join, and this is 'fly'\n" },
		{ USERS("{ user: a, may: [] }"),
		  "t:3:23: 'may' wants a list of rights, as [ submit, look ], "
		  "and this is a list\n" },
		{ USERS("{ user: a, may: look }\n    - { user: a, may: stop }"),
		  "t:4:7: this entry of 'users' is there twice: line 3 has it, "
		  "too\n" },
		{ "compose: [ { mod_name: a, pool_name: b, limit_ms: 5 } ]",
		  "t:1:12: 'max_restarts' and 'limit_ms' are for pools with "
		  "'isolated: true'\n" },
		{ "grace_ms: 4\n",
		  "t:1:1: 'grace_ms' is no key of the file itself, but of "
		  "'daemon': indent it below that\n" },
	};

	check_refused(mistakes, ARRAY_SIZE(mistakes));
}
