/* SPDX-License-Identifier: MIT */
/*
 * modules.c - the modules that come with the library: what fails below a method is the
 * code of its request, and a pool that cannot be made is not there.
 */
#include "fault/io_scene.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NO_FILE -EIO, -ENOSPC, -EACCES, NO_WAIT

static struct sley_router *router_of(struct sley *rt,
				     const struct sley_module *module)
{
	struct sley_router *router;

	if (!TRY(sley_router_create(rt, &router, NULL), -ENOMEM))
		return NULL;
	if (TRY(sley_router_add(router, module), -ENOMEM))
		return router;
	CHECK_EQ(sley_router_destroy(router), 0);
	return NULL;
}

/* ---- admin ----------------------------------------------------------------------------- */

static int ask(struct sley_pool *admin, uint32_t method, const void *in,
	       size_t size)
{
	return sley_pool_call(admin,
			      SLEY_REQUEST(.method = method, .in = in,
					   .in_size = size),
			      NULL);
}

static void administer(struct sley_router *router)
{
	struct sley_admin_make make = { .pool = "second",
					.module = "admin",
					.containers = 2 };
	struct sley_admin_target target = { .pool = "second" };
	struct sley_pool *admin;

	if (!TRY(sley_pool_open(router, &admin, "admin",
				SLEY_POOL_OPTIONS(.module = "admin")),
		 -ENOMEM))
		return;
	if (TRY(ask(admin, SLEY_ADMIN_MAKE, &make, sizeof(make)), -ENOMEM)) {
		CHECK_EQ(ask(admin, SLEY_ADMIN_FLUSH, &target, sizeof(target)),
			 0);
		CHECK_EQ(ask(admin, SLEY_ADMIN_DESTROY, &target,
			     sizeof(target)),
			 0);
	}
	CHECK_EQ(sley_router_pool_names(router, NULL, 0), 1);
	sley_pool_close(admin);
}

SCENARIO(pools_by_requests)
{
	struct sley *rt = trial_start(2);
	struct sley_router *router;

	if (!rt)
		return;
	trial_mark();
	router = router_of(rt, &sley_admin_module);
	if (router) {
		administer(router);
		CHECK_EQ(sley_router_destroy(router), 0);
	}
	trial_stop(rt);
}

/* ---- file ------------------------------------------------------------------------------ */

static int call(struct sley_pool *pool, uint32_t method, const void *in,
		size_t in_size, void *out, size_t out_size)
{
	return sley_pool_call(pool,
			      SLEY_REQUEST(.method = method,
					   .query = sley_query_dynamic(),
					   .in = in, .in_size = in_size,
					   .out = out, .out_size = out_size),
			      NULL);
}

static void use_file(struct sley_pool *pool, uint64_t file)
{
	struct {
		struct sley_file_at at;
		char data[4];
	} in = { { .file = file, .size = 4 }, "abcd" };
	uint64_t written = 0;
	char back[4] = "";
	static const int errors[] = { -EIO, -EDQUOT, 0 };

	if (TRY(call(pool, SLEY_FILE_WRITE, &in, sizeof(in.at) + 4, &written,
		     sizeof(written)),
		NO_FILE)) {
		CHECK_EQ(written, 4);
		if (TRY(call(pool, SLEY_FILE_READ, &in, sizeof(in.at), back, 4),
			NO_FILE))
			CHECK_EQ(memcmp(back, "abcd", 4), 0);
	}
	(void)TRY(call(pool, SLEY_FILE_SYNC, &file, sizeof(file), NULL, 0),
		  NO_FILE);
	/* The number is gone in any case: there is no second try. */
	(void)!trial_failed(TEST_PLACE("close"),
			    call(pool, SLEY_FILE_CLOSE, &file, sizeof(file),
				 NULL, 0),
			    errors);
	CHECK_EQ(call(pool, SLEY_FILE_CLOSE, &file, sizeof(file), NULL, 0),
		 -EBADF);
}

static void use_folder(struct sley_router *router, const char *folder)
{
	struct sley_file_params params = { .size = sizeof(params),
					   .flags = SLEY_FILE_WRITABLE,
					   .max_open = 1 };
	struct sley_file_open in = { .flags = SLEY_FILE_TO_READ |
					      SLEY_FILE_TO_WRITE |
					      SLEY_FILE_CREATE,
				     .path = "file" };
	struct sley_file_opened out;
	struct sley_pool *pool;

	snprintf(params.root, sizeof(params.root), "%s", folder);
	if (!TRY(sley_pool_open(
			 router, &pool, "files",
			 SLEY_POOL_OPTIONS(.module = "file", .containers = 2,
					   .params = &params,
					   .params_size = sizeof(params))),
		 NO_FILE))
		return;
	/* Each open finds a place, also after one that has failed. */
	if (TRY(call(pool, SLEY_FILE_OPEN, &in, sizeof(in), &out, sizeof(out)),
		NO_FILE))
		use_file(pool, out.file);
	in.flags = 0;
	(void)TRY(call(pool, SLEY_FILE_UNLINK, &in, sizeof(in), NULL, 0),
		  -ENOENT, NO_FILE);
	sley_pool_close(pool);
}

SCENARIO(files_of_a_pool)
{
	char folder[] = "/tmp/sley-fault-XXXXXX", path[64];
	struct sley *rt = trial_start(2);
	struct sley_router *router;

	if (!rt)
		return;
	CHECK(mkdtemp(folder) != NULL);
	snprintf(path, sizeof(path), "%s/file", folder);
	trial_mark();
	trial_may_absorb("eventfd"); /* without a ring, a thread of the pool */
	trial_may_absorb("close");   /* of a folder: nothing can be lost */
	router = router_of(rt, &sley_file_module);
	if (router) {
		use_folder(router, folder);
		CHECK_EQ(sley_router_destroy(router), 0);
	}
	(void)unlink(path);
	CHECK_EQ(rmdir(folder), 0);
	trial_stop(rt);
}
