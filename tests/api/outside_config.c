/* SPDX-License-Identifier: MIT */
/*
 * outside_config.c - a program that knows the installed tree only, with libsley-config.
 */
#include <stdio.h>
#include <string.h>

#include <sley/config_file.h>
#include <sley/sley.h>

/* A name both libraries have inside, too: it must not collide. */
int os_env(void);

int os_env(void)
{
	return 7;
}

static int answer(void *self, struct sley_request *request)
{
	(void)self;
	return sley_request_answer(request, "x", 1);
}

static const struct sley_method methods[] = { { .name = "answer",
						.run = answer } };
static const struct sley_module module = { SLEY_MODULE_HEAD("m"),
					   .methods = methods,
					   .nr_methods = 1 };

int main(void)
{
	static const char text[] =
		"runtime: { num_threads: 2, local_sched: default }\n"
		"compose: [ { mod_name: m, pool_name: p, containers: 3 } ]\n";
	struct sley_config_file *file;
	struct sley_router *router;
	struct sley_pool *pool;
	struct sley *rt;
	int nr;

	if (sley_config_file_parse(&file, "text", text, strlen(text), NULL) ||
	    sley_config_file_start(file, &rt, &router) ||
	    sley_router_add(router, &module) ||
	    sley_config_file_compose(file, router) ||
	    sley_pool_open(router, &pool, "p", NULL))
		return 1;
	nr = (int)sley_pool_nr_containers(pool);
	sley_config_file_free(file);
	sley_pool_close(pool);
	printf("%s %d %d\n", sley_version(), nr, os_env());
	return sley_router_destroy(router) || sley_destroy(rt) || nr != 3;
}
