/* SPDX-License-Identifier: MIT */
/*
 * config_memory.c - a configuration file without memory, at each allocation: C51.
 *
 * Also the allocations of libyaml fail, and so this program has the functions of the C
 * library that allocate.
 */
#include "conformance/config/said.h"

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t nr, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t align, size_t size);

static __thread long left = -1; /* -1: nothing fails */

static bool fails(void)
{
	if (left < 0)
		return false;
	if (left == 0)
		return true; /* and so do all that follow */
	left--;
	return false;
}

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t nr, size_t size)
{
	return fails() ? NULL : __libc_calloc(nr, size);
}

void *realloc(void *memory, size_t size)
{
	return fails() ? NULL : __libc_realloc(memory, size);
}

int posix_memalign(void **memory, size_t align, size_t size)
{
	*memory = fails() ? NULL : __libc_memalign(align, size);
	return *memory ? 0 : ENOMEM;
}

/* Every kind of value, quotes, and texts that are longer than first buffers. */
static const char text[] =
	"runtime:\n"
	"  num_threads: 3\n"
	"  directories: [ /aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, '/b' ]\n"
	"  cpus: [ 0, '1-3' ]\n"
	"  learning_rate: 0.5\n"
	"  name: \"quoted \\u00e9\"\n"
	"compose:\n"
	"  - mod_name: a\n"
	"    pool_name: b\n"
	"    params: { x: 1, y: [ 1, 2, { z: z } ] }\n"
	"  - { mod_name: a, pool_name: c }\n"
	"daemon:\n"
	"  socket: /run/x/y.sock\n"
	"  mode: 0660\n"
	"  users:\n"
	"    - { user: ada, may: [ submit, look ] }\n"
	"    - { everybody: true, may: look }\n";

static int nothing_said(void)
{
	static struct said said;
	struct sley_config_file *file = NULL;
	int err = parse(&file, text, &said);

	CHECK_EQ(file != NULL, err == 0);
	sley_config_file_free(file);
	left = -1;
	CHECK_STR(said.text, "");
	return err;
}

TEST(c51_no_memory_is_an_error_at_each_allocation)
{
	static char long_name[4090];
	long nr = 0;
	int err;

	memset(long_name, 'x', sizeof(long_name) - 1); /* needs a new block */
	setenv("SLEY_TRACE", long_name, 1);
	setenv("SLEY_LOCAL_SCHED", "none", 1);
	do {
		left = nr++;
		err = nothing_said();
		if (err)
			CHECK_EQ(err, -ENOMEM);
	} while (err);
	CHECK_GT(nr, 20);
}

TEST(c51_no_memory_for_the_bytes_of_a_file)
{
	struct sley_config_file *file = NULL;
	char path[64];
	int err;

	write_file(path, text, strlen(text));
	for (long nr = 0; nr < 3; nr++) {
		left = nr;
		err = sley_config_file_load(&file, path, NULL);
		left = -1;
		CHECK_EQ(err, -ENOMEM);
		CHECK(file == NULL);
	}
	CHECK_EQ(unlink(path), 0);
}
