/* SPDX-License-Identifier: MIT */
/*
 * 50_config.c - a runtime, its policy and a pool from a configuration file.
 *
 *   cc 50_config.c $(pkg-config --cflags --libs sley-config)
 *   ./a.out service.yaml          # or: SLEY_NUM_THREADS=1 ./a.out
 */
#include <sley/config_file.h>
#include <sley/sley.h>
#include <stdio.h>
#include <string.h>

static const char text[] = "runtime:\n"
			   "  num_threads: 2\n"
			   "  local_sched: default\n"
			   "compose:\n"
			   "  - { mod_name: greeter, pool_name: greetings,\n"
			   "      containers: 3, params: { word: hello } }\n";

static int create(void **self, const struct sley_container_info *info)
{
	size_t size;
	const char *word =
		sley_param_find(info->params, info->params_size, "word", &size);

	*self = NULL;
	printf("container %u says %.*s\n", info->id, word ? (int)size : 2,
	       word ? word : "hi");
	return 0;
}

static int greet(void *self, struct sley_request *request)
{
	(void)self;
	return sley_request_answer(request, "done", 5);
}

static const struct sley_method methods[] = { { .name = "greet",
						.run = greet } };
static const struct sley_module greeter = { SLEY_MODULE_HEAD("greeter"),
					    .methods = methods, .nr_methods = 1,
					    .create = create };

int main(int argc, char **argv)
{
	struct sley_config_file *file;
	struct sley_router *router;
	struct sley *rt;
	int err = argc > 1 ? sley_config_file_load(&file, argv[1], NULL)
			   : sley_config_file_parse(&file, "text", text,
						    strlen(text), NULL);

	if (err || sley_config_file_start(file, &rt, &router))
		return 1; /* a line has said why */
	err = sley_router_add(router, &greeter);
	if (!err)
		err = sley_config_file_compose(file, router);
	sley_config_file_free(file);
	return sley_router_destroy(router) || sley_destroy(rt) || err;
}
