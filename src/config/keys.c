/* SPDX-License-Identifier: MIT */
/*
 * keys.c - see keys.h.
 *
 * The names are those of Chimaera where it has the key, so that its files mean the same
 * here; other keys have the name of the field.  A value of 0 in a field is the default,
 * so a key whose 0 would mean something else begins at 1, or has a word.
 *
 * Fields that have no key: hooks, allocators and SLEY_SINGLE belong to the program, and
 * no_membarrier, no_guard_advice to tests; io says what no_io_uring says.
 */
#include "config/keys.h"

#include "config/params.h"
#include "config/users.h"

#include <sley/domain.h>
#include <sley/domain_host.h>
#include <sley/policy.h>
#include <sley/subprocess.h>

#define NETWORKING "there are no other machines so far"

static const struct word spin_words[] = { { "0", SLEY_NO_SPIN }, { 0 } };
static const struct word never_words[] = { { "never", SLEY_NEVER }, { 0 } };
static const struct word unlimited_words[] = { { "unlimited", SLEY_UNBOUNDED },
					       { 0 } };

static const struct word io_words[] = {
	{ "uring", SLEY_IO_URING },
	{ "epoll", SLEY_IO_EPOLL },
	{ "threads", SLEY_IO_THREADS },
	{ 0 },
};

static const struct word log_words[] = {
	{ "debug", SLEY_LOG_DEBUG },
	{ "info", SLEY_LOG_INFO },
	{ "warning", SLEY_LOG_WARNING },
	{ "error", SLEY_LOG_ERROR },
	{ 0 },
};

static const struct word placement_words[] = {
	{ "none", SLEY_PLACE_NONE },
	{ "any_of", SLEY_PLACE_ANY_OF },
	{ "one_of", SLEY_PLACE_ONE_OF },
	{ 0 },
};

static const struct word strict_words[] = {
	{ "true", 1 }, { "false", 0 }, { "on", 1 }, { "off", 0 },
	{ "1", 1 },    { "0", 0 },     { 0 },
};

static const struct word share_words[] = { { "process", 0 },
					   { "user", 1 },
					   { 0 } };
static const struct word ageing_words[] = { { "never", 0 }, { 0 } };
static const struct word restart_words[] = { { "never", SLEY_SUBPROCESS_NEVER },
					     { 0 } };

/* The default is 0, so the field says no. */
static const struct word filter_words[] = {
	{ "true", 0 }, { "false", 1 }, { "on", 0 }, { "off", 1 }, { 0 },
};

static const struct word right_words[] = {
	{ "submit", SLEY_CONFIG_MAY_SUBMIT },
	{ "create", SLEY_CONFIG_MAY_CREATE },
	{ "upgrade", SLEY_CONFIG_MAY_UPGRADE },
	{ "stop", SLEY_CONFIG_MAY_STOP },
	{ "look", SLEY_CONFIG_MAY_LOOK },
	{ "join", SLEY_CONFIG_MAY_JOIN },
	{ 0 },
};

/* clang-format off: one key, two lines */
static const struct key runtime[] = {
	{ "num_threads", VALUE_NUMBER, .max = SLEY_WORKERS_MAX,
	  KEY_FIELD(struct settings, config.workers), .field = "workers",
	  .standard = "0" },
	{ "local_sched", VALUE_TEXT, .min = 1, .max = SLEY_POOL_NAME_MAX,
	  KEY_FIELD(struct settings, router.policy), .field = "policy",
	  .standard = "default" },
	{ "queue_depth", VALUE_NUMBER, .min = 1, .max = UINT32_MAX,
	  .standard = "unlimited", .note = "queues have no bound" },
	{ "first_busy_wait", VALUE_NUMBER, .min = 1, .max = 1000000,
	  .words = spin_words, KEY_FIELD(struct settings, config.spin_us),
	  .field = "spin_us", .standard = "20" },
	{ "learning_rate", VALUE_RATE,
	  KEY_FIELD(struct settings, router.learning_rate), .standard = "0.2" },
	{ "conf_dir", VALUE_FOLDER, KEY_FIELD(struct settings, conf_dir),
	  .standard = "" },
	{ "directories", VALUE_FOLDERS,
	  KEY_FIELD(struct settings, router.directories), .standard = "" },
	{ "log_level", VALUE_WORD, .words = log_words,
	  KEY_FIELD(struct settings, router.log_level), .standard = "warning" },
	{ "migratable", VALUE_SWITCH,
	  KEY_FIELD(struct settings, config.migratable), .standard = "false" },
	{ "io", VALUE_WORD, .words = io_words,
	  KEY_FIELD(struct settings, config.io), .standard = "uring" },
	{ "watchdog_ms", VALUE_NUMBER, .min = 1, .max = UINT32_MAX,
	  .words = never_words, KEY_FIELD(struct settings, config.watchdog_ms),
	  .standard = "100" },
	{ "tick_us", VALUE_NUMBER, .min = 100, .max = 10000,
	  KEY_FIELD(struct settings, config.tick_us), .standard = "1000" },
	{ "stack_kib", VALUE_NUMBER, .min = 16, .max = 1 << 20,
	  KEY_FIELD(struct settings, config.stack_kib), .standard = "256" },
	{ "stack_cache", VALUE_NUMBER, .min = 1, .max = UINT32_MAX,
	  KEY_FIELD(struct settings, config.stack_cache), .standard = "64" },
	{ "blocking_max", VALUE_NUMBER, .min = 1, .max = UINT32_MAX,
	  .words = unlimited_words,
	  KEY_FIELD(struct settings, config.blocking_max), .standard = "512" },
	{ "blocking_idle_ms", VALUE_NUMBER, .min = 1, .max = UINT32_MAX,
	  KEY_FIELD(struct settings, config.blocking_idle_ms),
	  .standard = "10000" },
	{ "max_processes", VALUE_NUMBER, .max = UINT32_MAX,
	  KEY_FIELD(struct settings, config.max_processes), .standard = "0" },
	{ "placement", VALUE_WORD, .words = placement_words,
	  KEY_FIELD(struct settings, config.placement), .standard = "none" },
	{ "cpus", VALUE_CPUS, KEY_FIELD(struct settings, config.cpus),
	  .standard = "" },
	{ "save_fpu", VALUE_SWITCH, KEY_FIELD(struct settings, config.save_fpu),
	  .standard = "false" },
	{ "seed", VALUE_NUMBER, .max = UINT64_MAX,
	  KEY_FIELD(struct settings, config.seed), .standard = "0" },
	{ "name", VALUE_TEXT, .min = 1, .max = 15,
	  KEY_FIELD(struct settings, config.name), .standard = "sley" },
	{ "trace", VALUE_TEXT, .min = 1, .max = 4095,
	  KEY_FIELD(struct settings, config.trace), .standard = "" },
	{ "domain", VALUE_TEXT, .min = 1, .max = 107,
	  KEY_FIELD(struct settings, config.domain), .standard = "" },
	{ "domain_strict", VALUE_WORD, .words = strict_words,
	  KEY_FIELD(struct settings, config.strict), .field = "strict",
	  .standard = "false" },
};

static const struct key networking[] = {
	{ "port", VALUE_NUMBER, .min = 1, .max = UINT16_MAX, .standard = "",
	  .note = NETWORKING },
	{ "neighborhood_size", VALUE_NUMBER, .min = 1, .max = UINT32_MAX,
	  .standard = "", .note = NETWORKING },
	{ "hostfile", VALUE_TEXT, .max = 4095, .standard = "",
	  .note = NETWORKING },
	{ "wait_for_restart", VALUE_NUMBER, .max = UINT32_MAX, .standard = "",
	  .note = NETWORKING },
	{ "wait_for_restart_poll_period", VALUE_NUMBER, .max = UINT32_MAX,
	  .standard = "", .note = NETWORKING },
};

static const struct key pool[] = {
	{ "mod_name", VALUE_TEXT, .is_needed = true, .min = 1,
	  .max = SLEY_POOL_NAME_MAX, KEY_FIELD(struct sley_config_pool, module),
	  .field = "module" },
	{ "pool_name", VALUE_TEXT, .is_needed = true, .min = 1,
	  .max = SLEY_POOL_NAME_MAX, KEY_FIELD(struct sley_config_pool, name),
	  .field = "name" },
	{ "pool_id", VALUE_ID, KEY_FIELD(struct sley_config_pool, id) },
	{ "pool_query", VALUE_QUERY,
	  KEY_FIELD(struct sley_config_pool, query) },
	{ "restart", VALUE_SWITCH,
	  KEY_FIELD(struct sley_config_pool, restart) },
	{ "containers", VALUE_NUMBER, .min = 1, .max = SLEY_CONTAINERS_MAX,
	  KEY_FIELD(struct sley_config_pool, containers) },
	{ "params", VALUE_PARAMS, .size = sizeof(struct params),
	  .offset = offsetof(struct sley_config_pool, params) },
	{ "isolated", VALUE_SWITCH,
	  KEY_FIELD(struct sley_config_pool, isolated) },
	{ "max_restarts", VALUE_NUMBER, .min = 1, .max = UINT32_MAX - 1,
	  .words = restart_words,
	  KEY_FIELD(struct sley_config_pool, max_restarts) },
	{ "limit_ms", VALUE_NUMBER, .min = 1, .max = UINT32_MAX,
	  KEY_FIELD(struct sley_config_pool, limit_ms) },
};

static const struct key daemon_keys[] = {
	{ "socket", VALUE_PATH, .max = 107,
	  KEY_FIELD(struct sley_config_daemon, socket), .standard = "" },
	{ "mode", VALUE_MODE, KEY_FIELD(struct sley_config_daemon, mode),
	  .standard = "0600" },
	{ "name", VALUE_TEXT, .min = 1, .max = 31,
	  KEY_FIELD(struct sley_config_daemon, name), .standard = "sleyd" },
	{ "user", VALUE_TEXT, .min = 1, .max = 255,
	  KEY_FIELD(struct sley_config_daemon, user), .standard = "" },
	{ "users", VALUE_USERS, .size = sizeof(struct users),
	  .offset = offsetof(struct sley_config_daemon, users),
	  .standard = "" },
	{ "max_clients", VALUE_NUMBER, .min = 1, .max = 65536,
	  KEY_FIELD(struct sley_config_daemon, max_clients),
	  .standard = "256" },
	{ "max_clients_per_user", VALUE_NUMBER, .min = 1, .max = 65536,
	  KEY_FIELD(struct sley_config_daemon, max_clients_per_user),
	  .standard = "64" },
	{ "max_requests_per_user", VALUE_NUMBER, .min = 1, .max = 1 << 30,
	  KEY_FIELD(struct sley_config_daemon, max_requests_per_user),
	  .standard = "65536" },
	{ "max_segment_bytes", VALUE_NUMBER, .min = 4096,
	  .max = (uint64_t)1 << 40,
	  KEY_FIELD(struct sley_config_daemon, max_segment_bytes),
	  .standard = "67108864" },
	{ "max_depth", VALUE_NUMBER, .min = 16, .max = 65536,
	  KEY_FIELD(struct sley_config_daemon, max_depth), .standard = "4096" },
	{ "max_slot_size", VALUE_NUMBER, .min = 256, .max = 1 << 20,
	  KEY_FIELD(struct sley_config_daemon, max_slot_size),
	  .standard = "65536" },
	{ "grace_ms", VALUE_NUMBER, .min = 1, .max = 3600000,
	  KEY_FIELD(struct sley_config_daemon, grace_ms), .standard = "10000" },
	{ "state_dir", VALUE_FOLDER,
	  KEY_FIELD(struct sley_config_daemon, state_dir), .standard = "" },
	{ "pid_file", VALUE_PATH, .max = 511,
	  KEY_FIELD(struct sley_config_daemon, pid_file), .standard = "" },
	{ "seccomp", VALUE_WORD, .words = filter_words,
	  KEY_FIELD(struct sley_config_daemon, no_seccomp),
	  .standard = "true" },
	{ "domain", VALUE_TEXT, .min = 1, .max = 107,
	  KEY_FIELD(struct sley_config_daemon, domain), .standard = "" },
	{ "domain_mode", VALUE_MODE,
	  KEY_FIELD(struct sley_config_daemon, domain_mode),
	  .standard = "0600" },
	{ "domain_cores", VALUE_NUMBER, .min = 1, .max = SLEY_DOMAIN_CORES_MAX,
	  KEY_FIELD(struct sley_config_daemon, domain_cores), .standard = "" },
	{ "domain_age_ms", VALUE_NUMBER, .min = 1, .max = 3600000,
	  .words = ageing_words,
	  KEY_FIELD(struct sley_config_daemon, domain_age_ms),
	  .standard = "never" },
	{ "domain_share_by", VALUE_WORD, .words = share_words,
	  KEY_FIELD(struct sley_config_daemon, domain_share_by_user),
	  .standard = "process" },
};

static const struct key user[] = {
	{ "user", VALUE_TEXT, .min = 1, .max = 255,
	  KEY_FIELD(struct sley_config_user, user) },
	{ "group", VALUE_TEXT, .min = 1, .max = 255,
	  KEY_FIELD(struct sley_config_user, group) },
	{ "everybody", VALUE_SWITCH,
	  KEY_FIELD(struct sley_config_user, everybody) },
	{ "may", VALUE_RIGHTS, .is_needed = true, .words = right_words,
	  KEY_FIELD(struct sley_config_user, may) },
	{ "domain_priority", VALUE_PRIORITY,
	  KEY_FIELD(struct sley_config_user, domain_priority) },
	{ "domain_share", VALUE_NUMBER, .min = 1, .max = SLEY_DOMAIN_SHARE_MAX,
	  KEY_FIELD(struct sley_config_user, domain_share) },
};

static const struct key top[] = {
	{ "runtime", .kind = 0 },
	{ "networking", .kind = 0 },
	{ "compose", .kind = 0 },
	{ "daemon", .kind = 0 },
};
/* clang-format on */

_Static_assert(offsetof(struct sley_config_pool, params) +
			       offsetof(struct params, size) ==
		       offsetof(struct sley_config_pool, params_size),
	       "a struct params lies over both");

_Static_assert(offsetof(struct sley_config_daemon, users) +
			       offsetof(struct users, nr) ==
		       offsetof(struct sley_config_daemon, nr_users),
	       "a struct users lies over both");

_Static_assert(array_size(top) == NR_TOP_KEYS, "keys.h counts them");
_Static_assert(array_size(runtime) == NR_RUNTIME_KEYS, "the same");
_Static_assert(array_size(networking) == NR_NETWORKING_KEYS, "the same");
_Static_assert(array_size(pool) == NR_POOL_KEYS, "the same");
_Static_assert(array_size(daemon_keys) == NR_DAEMON_KEYS, "the same");
_Static_assert(array_size(user) == NR_USER_KEYS, "the same");

const struct key_table keys_top = {
	.where = "the file itself",
	.keys = top,
	.nr = NR_TOP_KEYS,
};

const struct key_table keys_runtime = {
	.where = "'runtime'",
	.keys = runtime,
	.nr = NR_RUNTIME_KEYS,
};

const struct key_table keys_networking = {
	.where = "'networking'",
	.keys = networking,
	.nr = NR_NETWORKING_KEYS,
};

const struct key_table keys_pool = {
	.where = "an entry of 'compose'",
	.advice = "parameters of the module go below 'params:'",
	.keys = pool,
	.nr = NR_POOL_KEYS,
};

const struct key_table keys_daemon = {
	.where = "'daemon'",
	.keys = daemon_keys,
	.nr = NR_DAEMON_KEYS,
};

const struct key_table keys_user = {
	.where = "an entry of 'users'",
	.keys = user,
	.nr = NR_USER_KEYS,
};
