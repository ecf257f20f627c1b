/* SPDX-License-Identifier: MIT */
/*
 * place.h - where the daemon is found: the path of its socket, and the file with its number.
 */
#ifndef SLEYD_PLACE_H
#define SLEYD_PLACE_H

#include <stddef.h>

/*
 * The path of the socket: @given, or $SLEY_SOCKET, or sleyd.sock in $RUNTIME_DIRECTORY,
 * or /run/sley/sleyd.sock for root, else $XDG_RUNTIME_DIR/sley/sleyd.sock.  NULL: there is no such folder, and the log has a line.
 * The text is static, or @given.
 */
const char *place_socket(const char *given);

/*
 * What a domain @name is called in this process: its path in $RUNTIME_DIRECTORY, or @name,
 * which the library then looks up.  The text is static, or @name.
 */
const char *place_domain(const char *name);

/*
 * Makes the folder of @path if it is not there, for @user, which may be NULL: then for the
 * caller.  0, or -errno; the log has a line.
 */
int place_make_folder(const char *path, const char *user);

/* The same for the folder of the state, which stays. */
int place_make_state(const char *folder, const char *user);

/* Removes the folder of @path again, if place_make_folder() has made it and it is empty. */
void place_remove_folder(const char *path);

/* Writes the number of this process to the file @path.  0, or -errno, with a line. */
int place_write_pid(const char *path);

/* @path, as an absolute path, in @out; or NULL, if @path is. */
const char *place_absolute(const char *path, char *out, size_t size);

#endif
