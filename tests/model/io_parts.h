/* SPDX-License-Identifier: MIT */
/*
 * io_parts.h - names that src/io needs in a model of io_ready.c: a table of one chunk,
 * and parts that no scene comes by.
 */
#ifndef SLEY_TESTS_MODEL_IO_PARTS_H
#define SLEY_TESTS_MODEL_IO_PARTS_H

#include "explorer.h"
#include "never.h"

#include "core/sched/source.h"
#include "core/trace/report.h"
#include "io/descriptor.h"
#include "io/file.h"
#include "mem/alloc.h"
#include "os/eventfd.h"
#include "os/network.h"

#define FD 1

static struct io_descriptor places[DESCRIPTOR_CHUNK];

int table_make(const struct table *table, uint32_t index)
{
	MODEL_CHECK(index == FD);
	(void)!table_publish(table, 0, places);
	return 0;
}

void table_walk(const struct table *table, uint32_t nr, void (*fn)(void *))
{
	(void)table;
	(void)nr;
	(void)fn;
	never();
}

void report(const struct sley *rt, const char *format, ...)
{
	(void)rt;
	MODEL_CHECK(!format);
}

void worker_yield(struct worker *worker)
{
	(void)worker;
	never();
}

int os_epoll_create(void)
{
	never();
	return 0;
}

int source_add(struct sley *rt, struct sley_source **out,
	       const struct source_ops *ops, void *arg, bool urgent)
{
	(void)rt;
	(void)out;
	(void)ops;
	(void)arg;
	(void)urgent;
	never();
	return 0;
}

void source_remove(struct sley_source *source)
{
	(void)source;
	never();
}

void *mem_alloc(struct mem *mem, size_t size)
{
	(void)mem;
	(void)size;
	never();
	return NULL;
}

void mem_free(struct mem *mem, void *memory, size_t size)
{
	(void)mem;
	(void)memory;
	(void)size;
	never();
}

/* A file that lingers has two numbers; the protocol of the first is the same. */
bool os_lingers(int fd)
{
	(void)fd;
	return false;
}

int os_dup(int fd)
{
	(void)fd;
	never();
	return -EMFILE;
}

int file_close_slowly(int fd)
{
	return file_close(fd, 0);
}

#endif
