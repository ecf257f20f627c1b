/* SPDX-License-Identifier: MIT */
/*
 * 47_isolated.c - a container in a process of its own: a crash fails one request.
 *
 *   cc 47_isolated.c $(pkg-config --cflags --libs sley)
 */
#include <sley/sley.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Runs in the subprocess, and crashes for some texts. */
static int count_words(void *self, struct sley_request *request)
{
	size_t size;
	const char *text = sley_request_in(request, &size);
	int words = 1;

	(void)self;
	if (memchr(text, '!', size))
		abort();
	for (size_t i = 0; i < size; i++)
		words += text[i] == ' ';
	return words;
}

static const struct sley_method method = { .name = "count_words",
					   .run = count_words };
static const struct sley_module module = { SLEY_MODULE_HEAD("parser"),
					   .methods = &method,
					   .nr_methods = 1 };

int main(void)
{
	const char *const texts[] = { "a b c", "boom!", "d e" };
	struct sley_request_spec spec = *SLEY_REQUEST(.method = 0);
	struct sley_router *router;
	struct sley_pool *pool;
	struct sley *rt;
	int code[3];

	if (sley_subprocesses_init() || sley_create(&rt, NULL) ||
	    sley_router_create(rt, &router, NULL) ||
	    sley_router_add(router, &module) ||
	    sley_pool_open(router, &pool, "parser",
			   SLEY_POOL_OPTIONS(.module = "parser",
					     .isolated = true)))
		return 1;
	for (int i = 0; i < 3; i++) {
		spec.in = texts[i];
		spec.in_size = strlen(texts[i]);
		code[i] = sley_pool_call(pool, &spec, NULL);
		printf("\"%s\": %d\n", texts[i], code[i]);
	}
	sley_pool_close(pool);
	if (sley_router_destroy(router) || sley_destroy(rt))
		return 1;
	sley_subprocesses_exit();
	return code[0] == 3 && code[1] == SLEY_ECHILD && code[2] == 2 ? 0 : 1;
}
