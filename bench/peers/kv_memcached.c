/* SPDX-License-Identifier: MIT */
/*
 * kv_memcached.c - the peer memcached of row `kv`, on a Unix socket, with its text
 * protocol.  A key is 16 digits, since keys of the protocol are texts.
 */
#include "kv_server.h"

#define SERVER "/usr/bin/memcached"

static size_t put_key(char *text, const uint64_t *key)
{
	for (int i = 0; i < KV_KEY_SIZE; i++)
		text[i] = "0123456789abcdef"[key[0] >> (4 * i) & 15];
	return KV_KEY_SIZE;
}

static size_t get(char *text, const uint64_t *key)
{
	memcpy(text, "get ", 4);
	put_key(text + 4, key);
	memcpy(text + 4 + KV_KEY_SIZE, "\r\n", 2);
	return 4 + KV_KEY_SIZE + 2;
}

static size_t set(char *text, const uint64_t *key, const void *value)
{
	static const char how[] = " 0 0 100\r\n";
	char *at = text;

	memcpy(at, "set ", 4);
	at += 4;
	at += put_key(at, key);
	memcpy(at, how, sizeof(how) - 1);
	at += sizeof(how) - 1;
	memcpy(at, value, KV_VALUE_SIZE);
	at += KV_VALUE_SIZE;
	memcpy(at, "\r\n", 2);
	return (size_t)(at - text) + 2;
}

/* "VALUE KEY 0 100", the value, "END". */
static struct kv_protocol protocol = {
	.get = get,
	.set = set,
	.got = 30 + KV_VALUE_SIZE + 7,
	.value_at = 30,
	.found = "VALUE ",
	.stored = "STORED\r\n",
};

static void run_kv(const struct measure *m)
{
	const char *argv[] = { SERVER, "-s", "SOCKET", "-m",
			       "1024", "-u", "root",   NULL };

	kv_server_run(m, argv, &protocol);
}

int main(int argc, char **argv)
{
	static const struct measure_row rows[] = {
		{ "kv", run_kv },
	};

	if (access(SERVER, X_OK) != 0) {
		fprintf(stderr, "kv: needs memcached\n");
		return MEASURE_SKIP;
	}
	return measure_main(argc, argv, rows, 1);
}
