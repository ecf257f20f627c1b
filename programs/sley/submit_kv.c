/* SPDX-License-Identifier: MIT */
/*
 * submit_kv.c - "sley submit" for stores: keys and values as words.
 */
#include "submit.h"

#include "table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_SIZE_KV 65536

/* A get, set or delete of a key. */
static int send_key(struct submit *submit, const struct words *words,
		    const char *value, size_t value_size)
{
	const char *key = words->word[2];
	struct sley_kv_request head = {
		.flags = submit->spec.method == SLEY_KV_GET ? SLEY_KV_BARE : 0,
		.key_size = (uint32_t)strlen(key),
		.value_size = (uint32_t)value_size,
		.ttl_ms = submit->ttl_ms,
	};
	size_t size = sizeof(head) + head.key_size + value_size;
	char *in = malloc(size);
	int status;

	if (!in)
		return remote_explain(&submit->remote, -ENOMEM, "no request");
	memcpy(in, &head, sizeof(head));
	memcpy(in + sizeof(head), key, head.key_size);
	if (value_size)
		memcpy(in + sizeof(head) + head.key_size, value, value_size);
	submit->key = key;
	submit->spec.in = in;
	submit->spec.in_size = size;
	submit->spec.query = sley_query_dynamic();
	if (submit->spec.method == SLEY_KV_GET)
		submit->out_size = SLEY_KV_VALUE_MAX;
	else
		submit->out_size = 0; /* the version, which few want */
	status = submit_send(submit, words->word[0]);
	free(in);
	return status;
}

static void add_items(struct table *table, const struct sley_kv_page *page,
		      size_t size)
{
	size_t at = sizeof(*page);

	/* Each item is looked at before it is believed. */
	for (uint32_t i = 0; i < page->nr; i++) {
		struct sley_kv_item item;

		if (size - at < sizeof(item))
			return;
		memcpy(&item, (const char *)page + at, sizeof(item));
		at += sizeof(item);
		if (item.key_size > size - at)
			return;
		table_add(table, "%.*s", (int)item.key_size,
			  (const char *)page + at);
		table_add(table, "%u", item.value_size);
		table_add(table, "%llu", (unsigned long long)item.version);
		table_add(table, "%llu", (unsigned long long)item.ttl_ms);
		at += (item.key_size + 7u) & ~(size_t)7;
		if (at > size)
			return;
	}
}

/* One container, page by page.  0, or an error. */
static int scan_container(struct submit *submit, const char *pool,
			  uint32_t container, struct table *table)
{
	static union {
		struct sley_kv_page page;
		char bytes[PAGE_SIZE_KV];
	} answer;
	struct sley_kv_scan_request in = { 0 };
	size_t size;
	int err;

	do {
		err = remote_call(&submit->remote, pool,
				  SLEY_REQUEST(.method = SLEY_KV_SCAN,
					       .query =
						       sley_query_id(container),
					       .in = &in, .in_size = sizeof(in),
					       .out = &answer,
					       .out_size = sizeof(answer)),
				  &size);
		if (!err && size < sizeof(answer.page))
			err = -EPROTO;
		if (!err)
			add_items(table, &answer.page, size);
		in.position = answer.page.position;
	} while (!err && !answer.page.done);
	return err;
}

static int scan(struct submit *submit, const char *pool)
{
	static const char *const headings[] = { "key", "bytes", "version",
						"ttl_ms", NULL };
	struct table table;
	int err = 0;

	table_init(&table, headings);
	for (uint32_t i = 0; !err; i++)
		err = scan_container(submit, pool, i, &table);
	if (err == -ENXIO) /* there are not so many containers */
		err = 0;
	if (!err)
		table_print(&table, submit->remote.json);
	table_free(&table);
	return remote_explain(&submit->remote, err, "the keys are not listed");
}

static int show_stats(struct submit *submit, const char *pool)
{
	static const char *const headings[] = { "keys",    "bytes",   "hits",
						"misses",  "writes",  "deletes",
						"evicted", "expired", NULL };
	struct sley_kv_stats stats;
	struct table table;
	size_t size;
	int err = remote_call(&submit->remote, pool,
			      SLEY_REQUEST(.method = SLEY_KV_STATS,
					   .query = sley_query_broadcast(),
					   .out = &stats,
					   .out_size = sizeof(stats)),
			      &size);

	if (!err && size != sizeof(stats))
		err = -EPROTO;
	if (err)
		return remote_explain(&submit->remote, err, "no figures");
	table_init(&table, headings);
	for (const uint64_t *at = &stats.keys; at <= &stats.expired; at++) {
		if (at != &stats.max_bytes)
			table_add(&table, "%llu", (unsigned long long)*at);
	}
	table_print(&table, submit->remote.json);
	table_free(&table);
	return STATUS_OK;
}

/* Words that a method takes, beside POOL and METHOD. */
static int check_words(const struct words *words, int min, int max)
{
	int more = words->nr - 2;

	if (more >= min && more <= max)
		return STATUS_OK;
	fprintf(stderr,
		"sley submit: a store takes 'set KEY VALUE', 'get KEY', "
		"'delete KEY', 'scan' and 'stats'\n");
	return STATUS_USAGE;
}

int submit_kv(struct submit *submit, const struct words *words)
{
	const char *value = words->nr > 3 ? words->word[3] : submit->data;
	size_t value_size = words->nr > 3 ? strlen(words->word[3])
					  : submit->data_size;
	int status;

	switch (submit->spec.method) {
	case SLEY_KV_GET:
	case SLEY_KV_DELETE:
		status = check_words(words, 1, 1);
		return status ? status : send_key(submit, words, NULL, 0);
	case SLEY_KV_SET:
		status = check_words(words, submit->data ? 1 : 2,
				     submit->data ? 1 : 2);
		return status ? status
			      : send_key(submit, words, value, value_size);
	case SLEY_KV_SCAN:
		status = check_words(words, 0, 0);
		return status ? status : scan(submit, words->word[0]);
	case SLEY_KV_STATS:
		status = check_words(words, 0, 0);
		return status ? status : show_stats(submit, words->word[0]);
	default:
		submit->out_size = 8;
		submit->spec.query = sley_query_broadcast();
		status = check_words(words, 0, 0);
		return status ? status : submit_send(submit, words->word[0]);
	}
}
