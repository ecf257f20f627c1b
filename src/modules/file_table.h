/* SPDX-License-Identifier: MIT */
/*
 * file_table.h - the open files of a container, by number.
 *
 *   number:  generation (32 bits)  container (16)  place (16)
 *
 * A place is given to one file after the other, and each file has the next generation:
 * the number of a closed file names nothing.  A place whose generations are used up is
 * not used again.
 *
 *      FREE ──take──► TAKEN ──fill──► OPEN ──remove──► CLOSING ──no user──► FREE
 *                       └──give back──────────────────────────────────────► FREE
 *
 * A place is TAKEN before its file is opened: a limit that is reached costs no open.
 * A method is a user of the file from enter to leave.  In between, it reads and writes
 * without the lock, and the descriptor is not closed: so its number is never used for a
 * file that the kernel has opened meanwhile.  The remover waits for the users, which
 * wait for the disk at most; neither a cancel nor a deadline ends this wait, or the
 * descriptor would have no owner.
 *
 * All under a mutex of fibers.
 */
#ifndef SLEY_MODULES_FILE_TABLE_H
#define SLEY_MODULES_FILE_TABLE_H

#include "base/compiler.h"

#include <sley/sync.h>

struct sley;

enum file_phase { FILE_FREE, FILE_TAKEN, FILE_OPEN, FILE_CLOSING };

struct open_file {
	int fd;
	uint32_t generation;
	uint32_t users;
	uint32_t next_free; /* a place; max: none */
	enum file_phase phase;
};

/* Bytes and calls of users that have left. */
struct file_moved {
	uint64_t reads, read_bytes;
	uint64_t writes, written_bytes;
};

struct file_table {
	struct sley_mutex lock;
	struct sley_cond left; /* the last user of a CLOSING file has left */
	struct sley *rt;
	uint32_t container;
	uint32_t max;
	uint32_t first_free; /* a place; max: none */
	uint32_t nr_open;
	struct file_moved moved;
	struct open_file *file;
};

/* At most @max files, up to SLEY_FILE_OPEN_MAX.  0 or -ENOMEM. */
must_check int file_table_init(struct file_table *table, struct sley *rt,
			       uint32_t container, uint32_t max);

/* There are no users: closes all files. */
void file_table_fini(struct file_table *table);

/* A place for a file that is not open yet; NULL: there is none. */
must_check struct open_file *file_table_take(struct file_table *table);

/* The place was taken: the file is open, or there is none after all. */
must_check uint64_t file_table_fill(struct file_table *table,
				    struct open_file *file, int fd);
void file_table_give_back(struct file_table *table, struct open_file *file);

/* The file of @number, of which the caller becomes a user; NULL: there is none. */
must_check struct open_file *file_table_enter(struct file_table *table,
					      uint64_t number);
void file_table_leave(struct file_table *table, struct open_file *file,
		      struct file_moved moved);

/*
 * No caller enters the file any more; waits for its users.  Its descriptor, which
 * belongs to the caller; or -EBADF.
 */
must_check int file_table_remove(struct file_table *table, uint64_t number);

/* The container of @number. */
static inline uint32_t file_number_container(uint64_t number)
{
	return (uint32_t)(number >> 16) & 0xffff;
}

#endif
