/* SPDX-License-Identifier: MIT */
/*
 * submit.c - sley submit: one request to a pool of a daemon.
 *
 * The daemon tells the names of methods to users with the right to look.  A user without
 * the right names a method by a number; but the methods of stores are known here, and a
 * user without the right can open a pool as a store, which fails for other pools.  Stores
 * take words in place of bytes: submit_kv.c.
 */
#include "submit.h"

#include "flat_json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DATA_MAX (64u << 20)
#define ROOM_DEFAULT 65536

/* ---- what is sent --------------------------------------------------------------------- */

static int read_file(struct submit *submit, const char *path)
{
	FILE *file = strcmp(path, "-") ? fopen(path, "rb") : stdin;
	size_t room = 0;
	int err = file ? 0 : -errno;

	while (!err && !feof(file)) {
		char *data = realloc(submit->data, room += 65536);

		if (!data || room > DATA_MAX) {
			err = data ? -EFBIG : -ENOMEM;
			submit->data = data ? data : submit->data;
			break;
		}
		submit->data = data;
		submit->data_size += fread(data + submit->data_size, 1,
					   room - submit->data_size, file);
		if (ferror(file))
			err = -EIO;
	}
	if (file && file != stdin)
		fclose(file);
	if (err)
		fprintf(stderr, "sley submit: cannot read '%s': %s\n", path,
			sley_strerror(err));
	return err ? STATUS_TROUBLE : STATUS_OK;
}

static int take_data(struct submit *submit)
{
	if (submit->data_file)
		return read_file(submit, submit->data_file);
	if (!submit->data_text)
		return STATUS_OK;
	submit->data = strdup(submit->data_text);
	submit->data_size = strlen(submit->data_text);
	return submit->data ? STATUS_OK : STATUS_TROUBLE;
}

static int take_priority(struct submit *submit)
{
	char *end;
	long value = strtol(submit->priority, &end, 10);

	if (*end || end == submit->priority || value < SLEY_PRIORITY_MIN ||
	    value > SLEY_PRIORITY_MAX) {
		fprintf(stderr,
			"sley submit: --priority wants a number from %d to %d, "
			"and this is '%s'\n",
			SLEY_PRIORITY_MIN, SLEY_PRIORITY_MAX, submit->priority);
		return STATUS_USAGE;
	}
	submit->spec.priority = (int32_t)value;
	return STATUS_OK;
}

static int take_numbers(struct submit *submit)
{
	const struct command *command = &command_submit;
	uint64_t ms, room = ROOM_DEFAULT;
	int status = STATUS_OK;

	if (submit->timeout) {
		status = words_number(command, "--timeout", submit->timeout,
				      UINT32_MAX, &ms);
		if (!status)
			submit->spec.deadline_ns = sley_after(ms * SLEY_MSEC);
	}
	if (!status && submit->room)
		status = words_number(command, "--room", submit->room, DATA_MAX,
				      &room);
	submit->out_size = room;
	if (!status && submit->ttl)
		status = words_number(command, "--ttl", submit->ttl, UINT32_MAX,
				      &submit->ttl_ms);
	if (!status && submit->priority)
		status = take_priority(submit);
	if (!status && submit->query &&
	    sley_query_parse(&submit->spec.query, submit->query)) {
		fprintf(stderr,
			"sley submit: '%s' is no query: local, dynamic, "
			"broadcast, direct_id:N, direct_hash:N, "
			"range:FIRST:NUMBER\n",
			submit->query);
		status = STATUS_USAGE;
	}
	return status;
}

/* ---- which method ------------------------------------------------------------------------ */

/* "'get', 'set', 'delete'" */
static void list_methods(const char *methods)
{
	char name[64];

	for (const char *at = json_first(methods); at; at = json_next(at))
		fprintf(stderr, "%s'%s'", at == json_first(methods) ? "" : ", ",
			json_show(at, name, sizeof(name)));
	fputs("\n", stderr);
}

/* Is the pool, which exists, a store?  For a user without the right to look. */
static bool is_store(struct submit *submit, const char *name)
{
	struct sley_pool *pool, *same;
	bool is;

	if (sley_client_pool_open(submit->remote.client, &pool, name, NULL))
		return false;
	is = !sley_client_pool_open(submit->remote.client, &same, name,
				    SLEY_POOL_OPTIONS(.module = "kv"));
	if (is)
		sley_pool_close(same);
	sley_pool_close(pool);
	return is;
}

/* STATUS_TROUBLE, without a line: a store has no such method. */
static int find_in_store(struct submit *submit, const char *method)
{
	const struct sley_module *kv = &sley_kv_module;

	for (uint32_t i = 0; i < kv->nr_methods; i++) {
		const char *name = kv->methods[i].name;

		if (!name || strcmp(name, method) != 0)
			continue;
		snprintf(submit->module, sizeof(submit->module), "%s",
			 kv->name);
		submit->spec.method = i;
		return STATUS_OK;
	}
	return STATUS_TROUBLE;
}

static int find_in(struct submit *submit, const char *text, const char *method)
{
	const char *methods = json_member(text, "methods");
	char name[64];
	uint32_t number = 0;

	json_show(json_member(text, "module"), submit->module,
		  sizeof(submit->module));
	for (const char *at = json_first(methods); at;
	     at = json_next(at), number++) {
		if (strcmp(json_show(at, name, sizeof(name)), method) != 0)
			continue;
		submit->spec.method = number;
		return STATUS_OK;
	}
	fprintf(stderr,
		"sley submit: the pool has no method '%s'; its methods are ",
		method);
	list_methods(methods);
	return STATUS_TROUBLE;
}

static int find_method(struct submit *submit, const char *pool,
		       const char *method)
{
	char *text;
	int err, status;

	if (*method >= '0' && *method <= '9') {
		uint64_t number;

		status = words_number(&command_submit, "the method", method,
				      UINT32_MAX, &number);
		submit->spec.method = (uint32_t)number;
		submit->by_number = true;
		return status;
	}
	err = remote_inspect(&submit->remote, pool, "methods", &text);
	if (err == -ENOENT)
		return remote_no_pool(&submit->remote, pool);
	if (err == -EACCES && is_store(submit, pool) &&
	    find_in_store(submit, method) == STATUS_OK)
		return STATUS_OK;
	if (err)
		return remote_explain(&submit->remote, err,
				      "the methods of '%s' are not known (a "
				      "number works, too)",
				      pool);
	status = find_in(submit, text, method);
	free(text);
	return status;
}

/* ---- the answer --------------------------------------------------------------------------- */

static bool is_text(const char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)bytes[i];

		if ((c < ' ' && c != '\n' && c != '\t') || c > '~')
			return false;
	}
	return true;
}

static void print_hex(const char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		printf("%02x%s", (unsigned char)bytes[i],
		       i % 32 == 31 && i + 1 < size ? "\n" : "");
	if (size)
		putchar('\n');
}

static void print_json(int code, const char *bytes, size_t size)
{
	printf("{\"code\":%d,\"size\":%zu,", code, size);
	if (is_text(bytes, size)) {
		fputs("\"text\":", stdout);
		json_put(stdout, bytes, size);
	} else {
		fputs("\"hex\":\"", stdout);
		for (size_t i = 0; i < size; i++)
			printf("%02x", (unsigned char)bytes[i]);
		fputs("\"", stdout);
	}
	fputs("}\n", stdout);
}

void submit_print(const struct submit *submit, int code, const char *bytes,
		  size_t size)
{
	if (submit->remote.json) {
		print_json(code, bytes, size);
	} else if (submit->raw) {
		fwrite(bytes, 1, size, stdout);
	} else if (is_text(bytes, size)) {
		fwrite(bytes, 1, size, stdout);
		if (size && bytes[size - 1] != '\n')
			putchar('\n');
	} else {
		print_hex(bytes, size);
	}
	if (code > 0 && !submit->remote.json)
		fprintf(stderr, "sley submit: code %d\n", code);
}

/* What the code @err means here, in @text or elsewhere; NULL: no more than anywhere. */
static const char *reason(const struct submit *submit, const char *pool,
			  int err, char text[256])
{
	switch (err) {
	case -ECANCELED:
	case -ECONNABORTED:
		/* The daemon's words, if it has thrown this command out. */
		return strstr(submit->remote.line, " ends the session: ")
			       ? submit->remote.line
			       : NULL;
	case -ENOENT:
		if (!submit->key)
			return NULL;
		snprintf(text, 256, "the pool '%s' has no key '%s'", pool,
			 submit->key);
		return text;
	case -ENOSYS:
		if (!submit->by_number)
			return NULL;
		snprintf(text, 256,
			 "the pool has no method %u; 'sley stats methods "
			 "--pool %s' lists them",
			 submit->spec.method, pool);
		return text;
	case -EINVAL:
		return submit->key ? NULL
				   : "the method refuses what it read: look at "
				     "--data";
	case -ENXIO:
		return submit->query ? "the pool has no such container: look "
				       "at --query"
				     : NULL;
	case -EMSGSIZE:
		snprintf(text, 256,
			 "the answer may have %zu bytes, and is longer: --room "
			 "BYTES makes room; or the request is too long",
			 submit->out_size);
		return text;
	default:
		return NULL;
	}
}

int submit_send(struct submit *submit, const char *name)
{
	struct sley_pool *pool;
	char *out = NULL, text[256];
	size_t size = 0;
	int err =
		sley_client_pool_open(submit->remote.client, &pool, name, NULL);

	if (err == -ENOENT)
		return remote_no_pool(&submit->remote, name);
	if (err)
		return remote_explain(&submit->remote, err, "the pool '%s'",
				      name);
	if (submit->forget) {
		err = sley_submit_and_forget(pool, &submit->spec);
	} else {
		out = malloc(submit->out_size + 1);
		submit->spec.out = out;
		submit->spec.out_size = submit->out_size;
		err = out ? sley_pool_call(pool, &submit->spec, &size)
			  : -ENOMEM;
	}
	sley_pool_close(pool);
	/* The answer may be read before the reason: the next call reads both. */
	if (err == -ECANCELED &&
	    !sley_client_pool_open(submit->remote.client, &pool, name, NULL))
		sley_pool_close(pool);
	if (err >= 0 && !submit->forget)
		submit_print(submit, err, out, size);
	else if (err < 0 && submit->remote.json)
		printf("{\"code\":%d,\"error\":\"%s\"}\n", err,
		       sley_strerror(err));
	free(out);
	return remote_explain_as(&submit->remote, err,
				 reason(submit, name, err, text),
				 "the request has failed");
}

static int go(struct submit *submit, const struct words *words)
{
	int status = take_numbers(submit);

	if (!status)
		status = take_data(submit);
	if (!status)
		status = remote_open(&submit->remote);
	if (!status)
		status = find_method(submit, words->word[0], words->word[1]);
	if (!status && strcmp(submit->module, "kv") == 0)
		return submit_kv(submit, words);
	if (!status && words->nr > 2) {
		fprintf(stderr,
			"sley submit: unexpected '%s': only stores take "
			"words; use --data\n",
			words->word[2]);
		status = STATUS_USAGE;
	}
	submit->spec.in = submit->data;
	submit->spec.in_size = submit->data_size;
	return status ? status : submit_send(submit, words->word[0]);
}

static int run(int argc, char **argv)
{
	struct submit submit = { .remote.command = &command_submit,
				 .spec.size = sizeof(submit.spec) };
	const struct word_option options[] = {
		REMOTE_OPTIONS(&submit.remote),
		{ .name = "query", .text = &submit.query },
		{ .name = "data", .text = &submit.data_text },
		{ .name = "data-file", .text = &submit.data_file },
		{ .name = "priority", .text = &submit.priority },
		{ .name = "timeout", .text = &submit.timeout },
		{ .name = "room", .text = &submit.room },
		{ .name = "ttl", .text = &submit.ttl },
		{ .name = "forget", .flag = &submit.forget },
		{ .name = "raw", .flag = &submit.raw },
		{ 0 },
	};
	struct words words;
	int status = words_parse(&words, &command_submit, options, argc, argv);

	if (!status && words.nr < 2)
		status = command_usage(&command_submit);
	if (!status)
		status = go(&submit, &words);
	remote_close(&submit.remote);
	free(submit.data);
	return status;
}

const struct command command_submit = {
	.name = "submit",
	.arguments = "POOL METHOD ...",
	.summary = "send a request to a pool of a daemon",
	.help = "METHOD is a name or a number; 'sley stats methods --pool "
		"POOL' lists them.\n"
		"The answer is printed, in hexadecimal if it is no text.\n\n"
		"  --data TEXT, --data-file FILE   what the method reads\n"
		"  --query QUERY   which containers: local, dynamic, "
		"broadcast, direct_id:N,\n"
		"                  direct_hash:N, range:FIRST:NUMBER\n"
		"  --priority N    -32 is the most urgent\n"
		"  --timeout MS    cancel it then\n"
		"  --room BYTES    for the answer; default 65536\n"
		"  --forget        do not wait for it\n"
		"  --raw           the bytes of the answer as they are\n\n"
		"Stores, the pools of the module kv, take words:\n\n"
		"  sley submit POOL set KEY VALUE [--ttl MS]\n"
		"  sley submit POOL get KEY\n"
		"  sley submit POOL delete KEY\n"
		"  sley submit POOL scan\n"
		"  sley submit POOL stats\n\n" REMOTE_HELP,
	.run = run,
};
