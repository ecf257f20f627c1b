/* SPDX-License-Identifier: MIT */
/*
 * sley/file_module.h - the module "file": files beneath one folder, by requests.
 *
 *     err = sley_router_add(router, &sley_file_module);
 *     err = sley_pool_open(router, &files, "files",
 *                          SLEY_POOL_OPTIONS(.module = "file", .containers = 4,
 *                                            .params = SLEY_FILE_PARAMS(
 *                                                    .root = "/srv/data"),
 *                                            .params_size = sizeof(
 *                                                    struct sley_file_params)));
 *     ...
 *     struct sley_file_open in = { .flags = SLEY_FILE_TO_READ, .path = "a/b" };
 *     struct sley_file_opened opened;
 *
 *     err = sley_pool_call(files,
 *                          SLEY_REQUEST(.method = SLEY_FILE_OPEN,
 *                                       .query = sley_query_dynamic(),
 *                                       .in = &in, .in_size = sizeof(in),
 *                                       .out = &opened,
 *                                       .out_size = sizeof(opened)),
 *                          NULL);
 *
 * Only the fiber of a request waits for the disk (<sley/io_file.h>).  Each request
 * tells the policy how many bytes it moves: small requests and large ones are told apart
 * by their own sizes.
 *
 * An open file is a number, which names no other file after it was closed.  It belongs to
 * the container that opened it; send requests with sley_query_dynamic(), and they find
 * it: the path decides about the container at first, and the number later.
 *
 * The folder.  Paths are relative to .root.  The kernel refuses a path that leads out of
 * it, with -EXDEV: by "..", by a symbolic link, or by a name that is moved meanwhile
 * (sley_io_open_beneath()).  There is no default for .root.  Nothing can be written unless
 * SLEY_FILE_WRITABLE is set, and only regular files are opened unless SLEY_FILE_DEVICES
 * is set.
 *
 * The IN and OUT parts have a fixed layout, and no pointers.  A part of another size
 * than its struct, a path without its 0, an unknown flag, and a reserved field that is
 * not 0 are -EINVAL; an OUT part that is too small is -EMSGSIZE.  Then nothing was done.
 * Other errors are those of the system calls.  At the deadline of a request, or when
 * a request is cancelled, a read or write that the kernel has not begun is given up.
 */
#ifndef SLEY_FILE_MODULE_H
#define SLEY_FILE_MODULE_H

#include <sley/compiler.h>
#include <sley/module.h>

SLEY_BEGIN_DECLS

/* The module, for sley_router_add(). */
SLEY_EXPORT extern const struct sley_module sley_file_module;

enum sley_file_method {
	/*
	 * IN struct sley_file_open, OUT struct sley_file_opened.
	 *
	 * -EMFILE: the container has .max_open files, or the process has no descriptor;
	 * -EROFS: the pool is not writable; -EISDIR: a folder; -EPERM: no regular file.
	 */
	SLEY_FILE_OPEN,
	/*
	 * IN struct sley_file_at, OUT the bytes, of which there may be fewer than .size
	 * at the end of the file.  -EMSGSIZE: OUT is smaller than .size.
	 */
	SLEY_FILE_READ,
	/*
	 * IN struct sley_file_at and then .size bytes, OUT a uint64_t: how many bytes were
	 * written; fewer than .size after an error in between, as with pwrite(2).
	 */
	SLEY_FILE_WRITE,
	/* IN struct sley_file_number in these.  STAT: OUT struct sley_file_stat. */
	SLEY_FILE_STAT,
	SLEY_FILE_SYNC, /* what was written is on the disk                    */
	/*
	 * From the beginning of the close on, the number is -EBADF.  Waits for the reads and
	 * writes that are under way.  The code is that of close(2): an error may be of
	 * an earlier write.
	 */
	SLEY_FILE_CLOSE,
	/* IN struct sley_file_open with .flags and .mode 0: removes the name. */
	SLEY_FILE_UNLINK,
};

/* ---- .params of a pool ------------------------------------------------------------- */

#define SLEY_FILE_ROOT_MAX 999

/* For .flags: */
#define SLEY_FILE_WRITABLE 1u /* files may be made, written and removed       */
#define SLEY_FILE_DEVICES 2u /* devices, FIFOs and sockets may be opened, too */

#define SLEY_FILE_OPEN_MAX 65536 /* files of a container                      */

/*
 * Zero means the default in every field but .root.  A text of lines (<sley/param.h>) is
 * taken as well, so that a configuration file may make the pool: "root=/srv/data",
 * "max_open=64", and "writable=true" and "devices=true" for the flags.
 */
struct sley_file_params {
	uint32_t size; /* of this struct; SLEY_FILE_PARAMS sets it           */
	uint32_t flags;
	uint32_t max_open; /* of each container; default 1024                 */
	uint32_t reserved_flags;
	char root[SLEY_FILE_ROOT_MAX + 1]; /* a folder; needed                */
	uint64_t reserved[4];
};

#define SLEY_FILE_PARAMS(...) SLEY_LITERAL(struct sley_file_params, __VA_ARGS__)

/* ---- IN and OUT parts -------------------------------------------------------------- */

#define SLEY_FILE_PATH_MAX 1007

/* For .flags of an open: READ or WRITE, or both, and others with WRITE. */
#define SLEY_FILE_TO_READ 1u
#define SLEY_FILE_TO_WRITE 2u
#define SLEY_FILE_CREATE 4u    /* the file, if there is none                  */
#define SLEY_FILE_EXCLUSIVE 8u /* with CREATE: -EEXIST if there is one        */
#define SLEY_FILE_TRUNCATE 16u
#define SLEY_FILE_APPEND 32u /* writes go to the end, whatever their offset   */

struct sley_file_open {
	uint32_t flags;
	uint32_t mode; /* rights of a new file, up to 0777; 0: 0600           */
	uint64_t reserved;
	char path[SLEY_FILE_PATH_MAX + 1];
};

struct sley_file_opened {
	uint64_t file; /* the number                                          */
	uint64_t size; /* of the file, in bytes                               */
};

struct sley_file_number {
	uint64_t file;
};

struct sley_file_at {
	uint64_t file;
	uint64_t offset;
	uint64_t size; /* in bytes                                            */
	uint64_t reserved;
};

struct sley_file_stat {
	uint64_t size;      /* in bytes                                       */
	uint64_t allocated; /* on the disk, in bytes                          */
	int64_t changed_ns; /* the contents; since 1970                       */
	uint32_t mode;      /* kind and rights: st_mode of stat(2)            */
	uint32_t links;
	uint64_t reserved[4];
};

SLEY_END_DECLS
#endif
