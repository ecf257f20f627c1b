/* SPDX-License-Identifier: MIT */
/*
 * load.c - see load.h.
 */
#include "route/load.h"

#include "core/trace/report.h"
#include "os/library.h"

#include <errno.h>
#include <sley/blocking.h>
#include <stdio.h>
#include <string.h>

#define SUFFIX ".so"

/* A library that was loaded. */
struct library {
	struct list link;
	struct os_library os;
	const void *table;
};

struct search {
	struct sley_router *router;
	const char *name;
	const char *symbol;
	bool again; /* the name may have another file now                    */
	struct os_library found;
	const void *table; /* NULL: the file is loaded already                */
	int err;
	char why[512];
};

/* A name is no path: it must not lead out of the folder. */
static bool is_plain(const char *name)
{
	return name[0] && name[0] != '.' && !strchr(name, '/') &&
	       strlen(name) <= SLEY_POOL_NAME_MAX;
}

/* Copies the folder at *@at to @dir, and moves *@at behind it.  False: no more. */
static bool next_directory(const char **at, char *dir, size_t size)
{
	size_t length;

	*at += strspn(*at, ":");
	length = strcspn(*at, ":");
	if (!length || length >= size)
		return false;
	memcpy(dir, *at, length);
	dir[length] = '\0';
	*at += length;
	return true;
}

static void take_table(struct search *search)
{
	search->table = os_library_symbol(&search->found, search->symbol);
	if (search->table)
		return;
	snprintf(search->why, sizeof(search->why),
		 "it has no symbol %s: its source ends with %s(...)",
		 search->symbol,
		 strcmp(search->symbol, LOAD_MODULE) == 0 ? "SLEY_MODULE"
							  : "SLEY_POLICY");
	os_library_close(&search->found);
	search->err = -ELIBBAD;
}

static bool is_loaded(struct sley_router *router,
		      const struct os_library *found)
{
	bool loaded = false;

	sley_mutex_lock(&router->lock);
	for (const struct list *link = router->libraries.next;
	     link != &router->libraries; link = link->next) {
		const struct os_library *os =
			&container_of(link, struct library, link)->os;

		loaded |= os->device == found->device &&
			  os->inode == found->inode;
	}
	sley_mutex_unlock(&router->lock);
	return loaded;
}

static int open_in(struct search *search, const char *dir, const char *file)
{
	struct os_library *found = &search->found;
	const size_t size = sizeof(search->why);
	int err;

	if (!search->again)
		return os_library_open(found, dir, file, search->why, size);
	err = os_library_find(found, dir, file, search->why, size);
	if (err)
		return err;
	if (!is_loaded(search->router, found))
		err = os_library_load(found, search->why, size);
	if (!found->handle)
		os_library_close(found);
	return err;
}

/* Runs where it may block. */
static void look(void *arg)
{
	struct search *search = arg;
	const char *at = search->router->directories;
	char file[SLEY_POOL_NAME_MAX + sizeof(SUFFIX)], dir[512];

	snprintf(file, sizeof(file), "%s%s", search->name, SUFFIX);
	search->err = -ENOENT;
	while (search->err == -ENOENT && next_directory(&at, dir, sizeof(dir)))
		search->err = open_in(search, dir, file);
	if (!search->err && search->found.handle)
		take_table(search);
}

static void complain(const struct sley_router *router,
		     const struct search *search)
{
	if (search->err == -EPERM)
		report(router->rt,
		       "\"%s\" is not loaded: users other than root and "
		       "you may write to %s; take that right away, or choose "
		       "another folder",
		       search->name, search->why);
	else if (search->err != -ENOENT)
		report(router->rt, "\"%s\" is not loaded: %s", search->name,
		       search->why);
}

/* The router unloads the library when it ends. */
static int keep(struct sley_router *router, struct search *search)
{
	struct library *library = mem_alloc(&router->rt->mem, sizeof(*library));

	if (!library) {
		os_library_close(&search->found);
		return -ENOMEM;
	}
	list_init(&library->link);
	library->os = search->found;
	library->table = search->table;
	sley_mutex_lock(&router->lock);
	list_append(&router->libraries, &library->link);
	sley_mutex_unlock(&router->lock);
	return 0;
}

static int find(struct sley_router *router, struct search *search)
{
	int err;

	search->router = router;
	if (!router->directories || !is_plain(search->name))
		return -ENOENT;
	err = sley_blocking_call(look, search);
	if (!err && search->err) {
		complain(router, search);
		err = search->err;
	}
	return err;
}

int load_table(struct sley_router *router, const char *name, const char *symbol,
	       const void **table)
{
	struct search search = { .name = name, .symbol = symbol };
	int err = find(router, &search);

	if (!err)
		err = keep(router, &search);
	*table = search.table;
	return err;
}

/* 0, -EEXIST, or an error, of which .report has a line. */
static int add_loaded(struct sley_router *router, const char *name,
		      const struct sley_module *module)
{
	if (module_check(module)) {
		report(router->rt,
		       "\"%s\" is not used: its table is for another version "
		       "of sley, or lacks a name or methods; compile it again",
		       name);
		return -ELIBBAD;
	}
	if (!module_is_same(module, name)) {
		report(router->rt,
		       "\"%s\" is not used: its table has another name, "
		       "\"%s\"; the file of a module is NAME.so",
		       name, module->name);
		return -ELIBBAD;
	}
	return sley_router_add(router, module);
}

int load_module(struct sley_router *router, const char *name)
{
	const struct sley_module *module;
	int err = load_table(router, name, LOAD_MODULE, (const void **)&module);

	if (!err)
		err = add_loaded(router, name, module);
	return err == -EEXIST ? 0 : err; /* another opener was faster */
}

int load_again(struct sley_router *router, const char *name)
{
	struct search search = { .name = name,
				 .symbol = LOAD_MODULE,
				 .again = true };
	int err = find(router, &search);

	if (err || !search.table)
		return err;
	err = keep(router, &search);
	if (err)
		return err;
	err = add_loaded(router, name, search.table);
	if (err == -EEXIST)
		report(router->rt,
		       "\"%s\" is not used: its file has changed, and "
		       "its version has not; count .version up",
		       name);
	return err ?: 1;
}

bool load_has(const struct sley_router *router, const void *table)
{
	for (const struct list *link = router->libraries.next;
	     link != &router->libraries; link = link->next) {
		if (container_of(link, struct library, link)->table == table)
			return true;
	}
	return false;
}

void load_end(struct sley_router *router)
{
	struct list *link;

	while ((link = list_take_first(&router->libraries))) {
		struct library *library =
			container_of(link, struct library, link);

		os_library_close(&library->os);
		mem_free(&router->rt->mem, library, sizeof(*library));
	}
}
