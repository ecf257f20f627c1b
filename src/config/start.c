/* SPDX-License-Identifier: MIT */
/*
 * start.c - <sley/config_file.h>: a runtime, a router and pools, as a file says.
 */
#include "config/file.h"

#include <errno.h>
#include <sley/error.h>
#include <sley/pool.h>

/* Where the file, or the environment, names the policy. */
static struct place policy_place(const struct sley_config_file *file)
{
	const struct key *key = key_find(&keys_runtime, "local_sched");

	return file->runtime[key - keys_runtime.keys].at;
}

static void explain_router(const struct sley_config_file *file, int err)
{
	const char *policy = file->settings.router.policy;

	/* The router has said more. */
	reader_note(&file->reader, policy_place(file),
		    "the policy '%s' does not start: %s",
		    policy ? policy : "default", sley_strerror(err));
}

int sley_config_file_start(const struct sley_config_file *file,
			   struct sley **rt, struct sley_router **router)
{
	const struct place at = { .line = 0 };
	struct sley *made;
	int err = sley_create(&made, &file->settings.config);

	if (err) {
		reader_note(&file->reader, at, "the runtime does not start: %s",
			    sley_strerror(err));
		return err;
	}
	err = sley_router_create(made, router, &file->settings.router);
	if (err) {
		explain_router(file, err);
		(void)sley_destroy(made);
		return err;
	}
	*rt = made;
	return 0;
}

/* What the user shall look at, for errors that have several causes; or "". */
static const char *advice_for(const struct sley_config_pool *pool, int err)
{
	if (pool->params_size && (err == -EINVAL || err == -ERANGE))
		return "; look at 'params': the module refuses a name that it "
		       "does not know, or a value";
	if (pool->isolated && err == -EOPNOTSUPP)
		return "; 'isolated' wants a program that calls "
		       "sley_subprocesses_init() first in main(), and a module "
		       "that can be in another process";
	return "";
}

static void explain_pool(const struct sley_config_file *file,
			 const struct sley_config_pool *pool, int err)
{
	const struct place at = { .line = pool->line, .column = pool->column };
	const char *directories = file->settings.router.directories;

	if (err == -ENOENT)
		reader_note(&file->reader, at,
			    "the pool '%s' is not made: there is no module "
			    "'%s', none that was added, and no file %s.so in "
			    "'directories' (%.200s)",
			    pool->name, pool->module, pool->module,
			    directories ? directories : "none");
	else if (err == -EEXIST)
		reader_note(&file->reader, at,
			    "the pool '%s' is not made: there is one of that "
			    "name with another module, or another number of "
			    "containers",
			    pool->name);
	else
		reader_note(&file->reader, at,
			    "the pool '%s' of the module '%s' is not made: "
			    "%s%s",
			    pool->name, pool->module, sley_strerror(err),
			    advice_for(pool, err));
}

int sley_config_file_compose(const struct sley_config_file *file,
			     struct sley_router *router)
{
	for (size_t i = 0; i < file->nr_pools; i++) {
		const struct sley_config_pool *pool = &file->pools[i];
		struct sley_pool *made;
		int err = sley_pool_open(
			router, &made, pool->name,
			SLEY_POOL_OPTIONS(.module = pool->module,
					  .containers = pool->containers,
					  .params = pool->params,
					  .params_size = pool->params_size,
					  .isolated = pool->isolated,
					  .max_restarts = pool->max_restarts,
					  .limit_ns =
						  pool->limit_ms * SLEY_MSEC));

		if (err) {
			explain_pool(file, pool, err);
			return err;
		}
		sley_pool_close(made);
	}
	return 0;
}
