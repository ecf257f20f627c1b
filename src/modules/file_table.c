/* SPDX-License-Identifier: MIT */
/*
 * file_table.c - see file_table.h.
 */
#include "modules/file_table.h"

#include "core/sched/worker.h"

#include <errno.h>
#include <sley/io.h>
#include <sley/file_module.h>
#include <sley/pool.h>

_Static_assert(SLEY_FILE_OPEN_MAX == 1 << 16 && SLEY_CONTAINERS_MAX == 1 << 16,
	       "a number has 16 bits for each");

static size_t files_size(const struct file_table *table)
{
	return table->max * sizeof(*table->file);
}

int file_table_init(struct file_table *table, struct sley *rt,
		    uint32_t container, uint32_t max)
{
	*table = (struct file_table){ .rt = rt,
				      .container = container,
				      .max = max };
	table->file = mem_alloc(&rt->mem, files_size(table));
	if (!table->file)
		return -ENOMEM;
	for (uint32_t i = 0; i < max; i++)
		table->file[i].next_free = i + 1;
	return 0;
}

void file_table_fini(struct file_table *table)
{
	for (uint32_t i = 0; i < table->max; i++) {
		if (table->file[i].phase == FILE_OPEN)
			(void)!sley_io_close(table->file[i].fd);
	}
	mem_free(&table->rt->mem, table->file, files_size(table));
}

/* ---- places ------------------------------------------------------------------------- */

static uint32_t place_number(const struct file_table *table,
			     const struct open_file *file)
{
	return (uint32_t)(file - table->file);
}

/* With the lock. */
static void free_place(struct file_table *table, struct open_file *file)
{
	file->phase = FILE_FREE;
	table->nr_open--;
	if (file->generation == UINT32_MAX)
		return;
	file->next_free = table->first_free;
	table->first_free = place_number(table, file);
}

struct open_file *file_table_take(struct file_table *table)
{
	struct open_file *file = NULL;

	sley_mutex_lock(&table->lock);
	if (table->first_free < table->max) {
		file = &table->file[table->first_free];
		table->first_free = file->next_free;
		file->phase = FILE_TAKEN;
		file->generation++;
		table->nr_open++;
	}
	sley_mutex_unlock(&table->lock);
	return file;
}

uint64_t file_table_fill(struct file_table *table, struct open_file *file,
			 int fd)
{
	uint64_t number = (uint64_t)file->generation << 32 |
			  table->container << 16 | place_number(table, file);

	sley_mutex_lock(&table->lock);
	file->fd = fd;
	file->phase = FILE_OPEN;
	sley_mutex_unlock(&table->lock);
	return number;
}

void file_table_give_back(struct file_table *table, struct open_file *file)
{
	sley_mutex_lock(&table->lock);
	free_place(table, file);
	sley_mutex_unlock(&table->lock);
}

/* ---- users -------------------------------------------------------------------------- */

/* With the lock. */
static struct open_file *find(struct file_table *table, uint64_t number)
{
	uint32_t place = number & 0xffff;
	struct open_file *file;

	if (file_number_container(number) != table->container ||
	    place >= table->max)
		return NULL;
	file = &table->file[place];
	return file->phase == FILE_OPEN && file->generation == number >> 32
		       ? file
		       : NULL;
}

struct open_file *file_table_enter(struct file_table *table, uint64_t number)
{
	struct open_file *file;

	sley_mutex_lock(&table->lock);
	file = find(table, number);
	if (file)
		file->users++;
	sley_mutex_unlock(&table->lock);
	return file;
}

static void add(struct file_moved *sum, struct file_moved moved)
{
	sum->reads += moved.reads;
	sum->read_bytes += moved.read_bytes;
	sum->writes += moved.writes;
	sum->written_bytes += moved.written_bytes;
}

void file_table_leave(struct file_table *table, struct open_file *file,
		      struct file_moved moved)
{
	sley_mutex_lock(&table->lock);
	add(&table->moved, moved);
	if (!--file->users && file->phase == FILE_CLOSING)
		sley_cond_notify_all(&table->left);
	sley_mutex_unlock(&table->lock);
}

int file_table_remove(struct file_table *table, uint64_t number)
{
	struct open_file *file;
	int fd = -EBADF;

	sley_mutex_lock(&table->lock);
	file = find(table, number);
	if (file) {
		file->phase = FILE_CLOSING;
		while (file->users)
			sley_cond_wait(&table->left, &table->lock);
		fd = file->fd;
		free_place(table, file);
	}
	sley_mutex_unlock(&table->lock);
	return fd;
}
