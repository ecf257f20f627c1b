/* SPDX-License-Identifier: MIT */
/*
 * load.h - modules and policies from shared objects.
 *
 * A module or policy with the name N is the file N.so in one of the folders that the
 * router was told (.directories); the first folder that has the file decides.  The file
 * exports its table: sley_module_table, or sley_policy_table.  os/library.h says which
 * files are trusted.
 *
 * The file is loaded on a thread for blocking calls: the dynamic linker reads files, and
 * needs more stack than a fiber has.  A library stays until its router ends.
 */
#ifndef SLEY_ROUTE_LOAD_H
#define SLEY_ROUTE_LOAD_H

#include "base/list.h"
#include "route/router.h"

#define LOAD_MODULE "sley_module_table"
#define LOAD_POLICY "sley_policy_table"

/*
 * Finds the table @symbol in the file of @name.  0, and *@table is the table; -ENOENT:
 * no folder has the file; -EPERM, -ELIBBAD or another error, of which .report has a
 * line.
 */
must_check int load_table(struct sley_router *router, const char *name,
			  const char *symbol, const void **table);

/* Adds the module that is a file of that name.  0, or the errors of load_table(). */
must_check int load_module(struct sley_router *router, const char *name);

/*
 * Loads the file of that name again, if it has another one now.  1: there is a new
 * version of the module; 0: there is none; or the errors of load_table().
 */
must_check int load_again(struct sley_router *router, const char *name);

/* Is @table from a file that the router has loaded?  With the lock of the router. */
must_check bool load_has(const struct sley_router *router, const void *table);

/* Unloads all libraries of the router. */
void load_end(struct sley_router *router);

#endif
