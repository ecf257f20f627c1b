/* SPDX-License-Identifier: MIT */
/*
 * file_scene.h - a pool of files over a folder of its own, and its requests.
 */
#ifndef SLEY_TESTS_CONFORMANCE_MODULES_FILE_SCENE_H
#define SLEY_TESTS_CONFORMANCE_MODULES_FILE_SCENE_H

#include "conformance/io/temporary.h"

/* ---- the scene ------------------------------------------------------------------------- */

/* A pool "files" over a folder. */
struct scene {
	struct folder folder;
	struct sley *rt;
	struct sley_router *router;
	struct sley_pool *pool;
};

static inline int open_pool(struct scene *s,
			    const struct sley_file_params *params,
			    uint32_t containers, struct sley_pool **pool)
{
	return sley_pool_open(
		s->router, pool, "files",
		SLEY_POOL_OPTIONS(.module = "file", .containers = containers,
				  .params = params,
				  .params_size = sizeof(*params)));
}

static inline void scene_begin(struct scene *s,
			       const struct sley_policy *policy)
{
	*s = (struct scene){ .folder = make_folder(), .rt = start() };
	CHECK_EQ(sley_router_create(s->rt, &s->router,
				    SLEY_ROUTER_OPTIONS(.own_policy = policy)),
		 0);
	CHECK_EQ(sley_router_add(s->router, &sley_file_module), 0);
}

static inline struct sley_file_params params_of(const char *root,
						uint32_t flags)
{
	struct sley_file_params params = { .size = sizeof(params),
					   .flags = flags };

	strncpy(params.root, root, SLEY_FILE_ROOT_MAX);
	return params;
}

static inline void scene_start(struct scene *s, uint32_t flags,
			       uint32_t containers)
{
	struct sley_file_params params;

	scene_begin(s, NULL);
	params = params_of(s->folder.path, flags);
	CHECK_EQ(open_pool(s, &params, containers, &s->pool), 0);
}

static inline void scene_stop(struct scene *s)
{
	sley_pool_close(s->pool);
	CHECK_EQ(sley_router_destroy(s->router), 0);
	remove_folder(&s->folder);
	stop(s->rt);
}

/* @fn(scene) in a task, and then on this thread. */
static inline void check_in_scene(sley_fn *fn, uint32_t flags,
				  uint32_t containers)
{
	struct scene s;

	scene_start(&s, flags, containers);
	run_both(fn, &s);
	scene_stop(&s);
}

/* ---- requests -------------------------------------------------------------------------- */

static inline int call(struct sley_pool *pool, uint32_t method, const void *in,
		       size_t in_size, void *out, size_t out_size)
{
	return sley_pool_call(pool,
			      SLEY_REQUEST(.method = method,
					   .query = sley_query_dynamic(),
					   .in = in, .in_size = in_size,
					   .out = out, .out_size = out_size),
			      NULL);
}

static inline int open_as(struct sley_pool *pool, const char *path,
			  uint32_t flags, uint64_t *file)
{
	struct sley_file_open in = { .flags = flags };
	struct sley_file_opened out = { 0 };
	int code;

	strncpy(in.path, path, SLEY_FILE_PATH_MAX);
	code = call(pool, SLEY_FILE_OPEN, &in, sizeof(in), &out, sizeof(out));
	*file = out.file;
	return code;
}

static inline uint64_t open_new(struct sley_pool *pool, const char *path)
{
	uint64_t file = 0;

	CHECK_EQ(open_as(pool, path,
			 SLEY_FILE_TO_READ | SLEY_FILE_TO_WRITE |
				 SLEY_FILE_CREATE | SLEY_FILE_EXCLUSIVE,
			 &file),
		 0);
	CHECK_NE(file, 0);
	return file;
}

static inline int of_file(struct sley_pool *pool, uint32_t method,
			  uint64_t file)
{
	struct sley_file_number in = { file };

	return call(pool, method, &in, sizeof(in), NULL, 0);
}

static inline int unlink_file(struct sley_pool *pool, const char *path)
{
	struct sley_file_open in = { 0 };

	strncpy(in.path, path, SLEY_FILE_PATH_MAX);
	return call(pool, SLEY_FILE_UNLINK, &in, sizeof(in), NULL, 0);
}

/* How many bytes were read, or the code. */
static inline long read_at(struct sley_pool *pool, uint64_t file, void *data,
			   size_t size, uint64_t offset)
{
	struct sley_file_at in = { .file = file,
				   .offset = offset,
				   .size = size };
	size_t n = 0;
	int code = sley_pool_call(pool,
				  SLEY_REQUEST(.method = SLEY_FILE_READ,
					       .query = sley_query_dynamic(),
					       .in = &in, .in_size = sizeof(in),
					       .out = data, .out_size = size),
				  &n);

	return code ? code : (long)n;
}

enum { WRITE_MAX = 20000 };

struct write {
	struct sley_file_at at;
	char data[WRITE_MAX];
};

static inline long write_at(struct sley_pool *pool, uint64_t file,
			    const void *data, size_t size, uint64_t offset)
{
	struct write *in = calloc(1, sizeof(*in));
	uint64_t written = 0;
	int code;

	CHECK(in != NULL);
	CHECK_LE(size, sizeof(in->data));
	in->at = (struct sley_file_at){ .file = file,
					.offset = offset,
					.size = size };
	memcpy(in->data, data, size);
	code = call(pool, SLEY_FILE_WRITE, in, sizeof(in->at) + size, &written,
		    sizeof(written));
	free(in);
	return code ? code : (long)written;
}

#endif
