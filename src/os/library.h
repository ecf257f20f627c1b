/* SPDX-License-Identifier: MIT */
/*
 * library.h - shared objects that are loaded while the program runs.
 *
 * The code of a library runs with all rights of the program.  So a library is loaded only
 * if nobody but root and the user of the program could have put it there: the file, its
 * folder and all folders above belong to one of the two, and no other user may write to
 * them.  A folder with the sticky bit, as /tmp, may be written to by others, since they
 * cannot replace what is not theirs.
 *
 * Names.  The dynamic linker knows loaded files by their names, and gives the old library
 * for a name that it knows, also if another file has that name now.  So a file that is
 * loaded anew is opened, and loaded by the name of its descriptor.  The descriptor stays
 * open as long as the library, so that no later file gets the same name.  Not so if the
 * file is loaded already: the linker would remember the name for good, and the descriptor
 * would be closed.
 */
#ifndef SLEY_OS_LIBRARY_H
#define SLEY_OS_LIBRARY_H

#include "base/compiler.h"

#include <stddef.h>
#include <stdint.h>

struct os_library {
	void *handle;
	int fd; /* that gives the library its name; -1: the path does         */
	uint64_t device, inode; /* of the file                                */
};

/*
 * Loads the file @name of the folder @dir.  0; -ENOENT: there is no such file; -EPERM:
 * others may write there; -ELIBBAD: it cannot be loaded.  On failure @why gets the
 * reason, or the path that others may write to, in at most @size bytes.
 */
must_check int os_library_open(struct os_library *library, const char *dir,
			       const char *name, char *why, size_t size);

/*
 * The same in two steps, for a file that may have replaced one that is loaded under this
 * name: finds the file, then loads it.  A file that is loaded already must not be loaded
 * so.  Either way os_library_close() ends it.
 */
must_check int os_library_find(struct os_library *library, const char *dir,
			       const char *name, char *why, size_t size);
must_check int os_library_load(struct os_library *library, char *why,
			       size_t size);

void os_library_close(struct os_library *library);

/* The address of the symbol @name, or NULL. */
void *os_library_symbol(const struct os_library *library, const char *name);

#endif
