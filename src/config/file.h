/* SPDX-License-Identifier: MIT */
/*
 * file.h - what a configuration file says.
 */
#ifndef SLEY_CONFIG_FILE_H_INTERNAL
#define SLEY_CONFIG_FILE_H_INTERNAL

#include "config/keys.h"

#define NR_VALUES (NR_RUNTIME_KEYS + NR_NETWORKING_KEYS + NR_DAEMON_KEYS)
#define POOLS_MAX 1000

struct sley_config_file {
	struct reader reader; /* its pile has all texts                       */
	struct settings settings;
	struct found runtime[NR_RUNTIME_KEYS];
	struct found networking[NR_NETWORKING_KEYS];
	struct sley_config_daemon daemon;
	struct found daemon_found[NR_DAEMON_KEYS];
	struct sley_config_value values[NR_VALUES];
	struct sley_config_pool *pools;
	size_t nr_pools;
};

/* Reads "compose".  0 or -ENOMEM. */
must_check int pools_read(struct sley_config_file *file,
			  const struct node *node);

/* Reads the variables of the environment.  0 or -ENOMEM. */
must_check int environment_read(struct sley_config_file *file);

/* Makes .values of what was found.  0 or -ENOMEM. */
must_check int values_list(struct sley_config_file *file);

#endif
