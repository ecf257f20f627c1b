/* SPDX-License-Identifier: MIT */
/*
 * kept.h - the pools that come again after a restart.
 *
 * The file "pools" in the state folder has a line for each pool:
 *
 *     CHECKSUM NAME MODULE CONTAINERS FLAGS MAX_RESTARTS LIMIT_NS PARAMS
 *
 * Names and params are hexadecimal, since they may have any bytes; "-" is an empty one.
 * The checksum is CRC-32 of what follows it in the line.  A change writes all lines to
 * "pools.new", waits until the disk has them, and renames the file.  So a crash leaves the
 * old file or the new file.  What the disk has broken is found by the checksums: a line that
 * is torn or has another checksum is left out, and the log has a line.
 *
 * The file is believed: it says which modules are loaded.  So only root and the user of the
 * daemon may own it, or be able to write to it or to its folder.
 *
 * Rejected: a log with a line for each change.  It needs a time at which it is cut, and a
 * daemon has few pools, which seldom change.
 */
#ifndef SLEYD_KEPT_H
#define SLEYD_KEPT_H

#include <sley/pool.h>
#include <sley/sync.h>

struct kept_pool;

struct kept {
	int folder;       /* a descriptor; -1: no pool can be kept            */
	const char *path; /* of the folder, for the log                       */
	struct sley_mutex lock;
	struct kept_pool *pools; /* (lock) */
	size_t nr;
};

/*
 * Opens the folder @path and reads the file.  NULL: no pool is kept.  0, or -errno; the log has a line.
 */
int kept_open(struct kept *kept, const char *path);
void kept_close(struct kept *kept);

/* Makes all pools.  One that cannot be made is in the log, and stays in the file. */
void kept_replay(struct kept *kept, struct sley_router *router);

/*
 * For struct sley_admin_params, with the struct kept as .keeper.  If the file is not written,
 * it stays as it was, the log says what that means for the pool, and the error is one of
 * -ENOSPC, -EDQUOT, -EROFS and -EIO, which requests about pools do not have otherwise.
 */
int kept_keep(void *keeper, const char *name,
	      const struct sley_pool_options *options);
int kept_forget(void *keeper, const char *name);

#endif
