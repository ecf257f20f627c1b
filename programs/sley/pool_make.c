/* SPDX-License-Identifier: MIT */
/*
 * pool_make.c - see pool_make.h.
 */
#include "pool_make.h"

#include <errno.h>
#include <sley/config_file.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int pool_make_param(void *self, const char *text)
{
	struct pool_make *make = self;
	size_t length = strlen(text);
	char *params;

	if (!strchr(text, '=') || strchr(text, '\n')) {
		fprintf(stderr,
			"sley pool: --param wants NAME=VALUE, and this is "
			"'%s'\n",
			text);
		return STATUS_USAGE;
	}
	params = realloc(make->params, make->params_size + length + 2);
	if (!params) {
		perror("sley pool");
		return STATUS_TROUBLE;
	}
	make->params = params;
	memcpy(params + make->params_size, text, length);
	make->params_size += length;
	params[make->params_size++] = '\n';
	params[make->params_size] = '\0';
	return STATUS_OK;
}

int pool_make_name(const char *name)
{
	if (*name && strlen(name) <= SLEY_POOL_NAME_MAX)
		return STATUS_OK;
	fprintf(stderr,
		"sley pool: the name of a pool has 1 to %d bytes, and this is "
		"'%s'\n",
		SLEY_POOL_NAME_MAX, name);
	return STATUS_USAGE;
}

int pool_make_numbers(struct pool_make *make, const struct command *command)
{
	int status = STATUS_OK;

	if (!make->isolated && (make->max_restarts || make->limit)) {
		fprintf(stderr,
			"sley pool: --%s is for pools with --isolated\n",
			make->limit ? "limit" : "max-restarts");
		return STATUS_USAGE;
	}
	if (make->containers)
		status = words_count(command, "--containers", make->containers,
				     SLEY_CONTAINERS_MAX, &make->nr_containers);
	if (!status && make->max_restarts)
		status = words_number(command, "--max-restarts",
				      make->max_restarts, UINT32_MAX - 1,
				      &make->nr_restarts);
	if (!status && make->limit)
		status = words_number(command, "--limit", make->limit,
				      UINT32_MAX, &make->limit_ms);
	return status;
}

void pool_make_free(struct pool_make *make)
{
	free(make->params);
	make->params = NULL;
}

int pool_make_send(const struct pool_make *make, struct remote *remote,
		   const char *pool, const char *module)
{
	size_t size = sizeof(struct sley_admin_make) + make->params_size;
	struct sley_admin_make *in;
	int err;

	in = calloc(1, size);
	if (!in)
		return -ENOMEM;
	if (remote_name(in->pool, sizeof(in->pool), pool) ||
	    remote_name(in->module, sizeof(in->module), module)) {
		free(in);
		return -ENAMETOOLONG;
	}
	in->containers = (uint32_t)make->nr_containers;
	in->flags = (make->isolated ? SLEY_ADMIN_ISOLATED : 0) |
		    (make->keep ? SLEY_ADMIN_KEEP : 0);
	in->limit_ns = make->limit_ms * SLEY_MSEC;
	in->max_restarts = (uint32_t)make->nr_restarts;
	if (make->params_size)
		memcpy(in + 1, make->params, make->params_size);
	err = remote_call(remote, "admin",
			  SLEY_REQUEST(.method = SLEY_ADMIN_MAKE, .in = in,
				       .in_size = size),
			  NULL);
	free(in);
	return err;
}

bool pool_make_is_unkept(int err)
{
	return err == -ENOSPC || err == -EDQUOT || err == -EROFS || err == -EIO;
}

int pool_make_explain(const struct pool_make *make, const struct remote *remote,
		      int err, const char *pool, const char *module)
{
	const char *why = NULL;

	if (make->keep && pool_make_is_unkept(err))
		return remote_explain(
			remote, err,
			"the pool '%s' is there, and does not come "
			"again after a restart, since the file of "
			"kept pools is not written",
			pool);
	if (err == -ENOENT)
		why = "the daemon has no such module; 'sley module list' shows "
		      "its modules, and 'directories:' of its configuration "
		      "says where it looks for files";
	else if (err == -EEXIST)
		why = "there is a pool of that name with another module or "
		      "another number of containers";
	else if (err == -EINVAL)
		why = "look at --param, or at 'params:' of the file: the module "
		      "does not know a name, refuses a value, or needs a "
		      "parameter that is missing";
	else if (err == -EPERM || err == -ELIBBAD ||
		 (err == -EOPNOTSUPP && make->isolated))
		why = "the log of the daemon says why";
	else if (err == -EOPNOTSUPP && make->keep)
		why = "the daemon keeps no pools: set 'state_dir:' in its "
		      "configuration";
	return remote_explain_as(remote, err, why,
				 "the pool '%s' of the module '%s' is not made",
				 pool, module);
}

/* ---- files --------------------------------------------------------------------------------- */

static void report(void *self, const char *line)
{
	(void)self;
	fprintf(stderr, "%s\n", line);
}

static int make_one(struct remote *remote, const struct sley_config_pool *pool)
{
	const struct pool_make make = {
		.keep = pool->restart,
		.isolated = pool->isolated,
		.params = (char *)pool->params,
		.params_size = pool->params_size,
		.nr_containers = pool->containers,
		.nr_restarts = pool->max_restarts,
		.limit_ms = pool->limit_ms,
	};
	int err = pool_make_send(&make, remote, pool->name, pool->module);

	return err ? pool_make_explain(&make, remote, err, pool->name,
				       pool->module)
		   : STATUS_OK;
}

int pool_make_file(struct remote *remote, const char *path)
{
	struct sley_config_file *file;
	const struct sley_config_pool *pool;
	int status = STATUS_OK;
	size_t nr = 0;

	if (sley_config_file_load(
		    &file, path,
		    SLEY_CONFIG_FILE_OPTIONS(
				    .flags = SLEY_CONFIG_FILE_NO_ENVIRONMENT,
				    .report = report)))
		return STATUS_TROUBLE;
	for (; !status && (pool = sley_config_file_pool(file, nr)); nr++)
		status = make_one(remote, pool);
	if (!status && !remote->json)
		printf("%zu pools are there.\n", nr);
	sley_config_file_free(file);
	return status;
}
