/* SPDX-License-Identifier: MIT */
/*
 * pools.c - the entries of "compose".
 */
#include "config/file.h"

#include <errno.h>
#include <string.h>

static bool is_same(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

/* Names and numbers are for one pool each.  POOLS_MAX bounds the comparisons. */
static void check_others(struct sley_config_file *file,
			 const struct sley_config_pool *pool)
{
	const struct place at = { .line = pool->line, .column = pool->column };

	for (const struct sley_config_pool *other = file->pools; other != pool;
	     other++) {
		if (is_same(other->name, pool->name))
			(void)reader_mistake(&file->reader, at,
					     "the pool '%s' is there twice: "
					     "line %u has it, too",
					     pool->name, other->line);
		if (is_same(other->id, pool->id))
			(void)reader_mistake(&file->reader, at,
					     "pool_id %s is there twice: line "
					     "%u has it, too",
					     pool->id, other->line);
	}
}

static int read_pool(struct sley_config_file *file, const struct node *node,
		     struct sley_config_pool *pool)
{
	struct found found[NR_POOL_KEYS] = { 0 };
	int err = keys_read(&file->reader, &keys_pool, node, pool, found);

	pool->line = node->at.line;
	pool->column = node->at.column;
	if (!err)
		check_others(file, pool);
	if (!err && !pool->isolated && (pool->max_restarts || pool->limit_ms))
		(void)reader_mistake(&file->reader, node->at,
				     "'max_restarts' and 'limit_ms' are for "
				     "pools with 'isolated: true'");
	return err;
}

int pools_read(struct sley_config_file *file, const struct node *node)
{
	int err = 0;

	if (node->kind != NODE_LIST || node->nr > POOLS_MAX) {
		(void)reader_mistake(&file->reader, node->at,
				     "'compose' wants a list of at most %d "
				     "pools, each beginning with '- mod_name:'",
				     POOLS_MAX);
		return 0;
	}
	if (!node->nr)
		return 0;
	file->pools =
		pile_alloc(&file->reader.pile, node->nr * sizeof(*file->pools));
	if (!file->pools)
		return -ENOMEM;
	for (const struct node *entry = node->first; entry && !err;
	     entry = entry->next)
		err = read_pool(file, entry, &file->pools[file->nr_pools++]);
	return err;
}
