/* SPDX-License-Identifier: MIT */
/*
 * keys.h - all keys of a file.
 */
#ifndef SLEY_CONFIG_KEYS_H
#define SLEY_CONFIG_KEYS_H

#include "config/key.h"

#include <sley/config_file.h>

/* The target of the keys of "runtime". */
struct settings {
	struct sley_config config;
	struct sley_router_options router;
	const char *conf_dir;
};

#define NR_TOP_KEYS 4
#define NR_RUNTIME_KEYS 25
#define NR_NETWORKING_KEYS 5
#define NR_POOL_KEYS 10
#define NR_DAEMON_KEYS 20
#define NR_USER_KEYS 6

extern const struct key_table keys_top; /* names alone */
extern const struct key_table keys_runtime;
extern const struct key_table keys_networking;
extern const struct key_table keys_pool; /* the target is a sley_config_pool */
extern const struct key_table keys_daemon; /* a sley_config_daemon */
extern const struct key_table keys_user;   /* a sley_config_user */

#endif
