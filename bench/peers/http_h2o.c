/* SPDX-License-Identifier: MIT */
/*
 * http_h2o.c - the peer h2o: one thread, no log.  h2o keeps the files that it serves
 * open, and the short answer is such a file: a handler in Ruby was not faster.
 */
#include "../problems/http_rows.h"

#define H2O "/usr/bin/h2o"

/* For the short answer: the file, and the fields that no other server sends. */
static void write_hello(const struct http_server *server, FILE *conf)
{
	char path[96];
	FILE *index;

	snprintf(path, sizeof(path), "%s/index.txt", server->dir);
	index = fopen(path, "w");
	MEASURE_CHECK(server->m, index && fputs(HTTP_BODY, index) >= 0 &&
					 fclose(index) == 0);
	fprintf(conf, "file.index: [ 'index.txt' ]\n"
		      "file.etag: OFF\n"
		      "header.unset: last-modified\n"
		      "header.unset: accept-ranges\n");
}

static void serve(const struct http_server *server)
{
	char path[96];
	FILE *conf;

	snprintf(path, sizeof(path), "%s/h2o.conf", server->dir);
	conf = fopen(path, "w");
	MEASURE_CHECK(server->m, conf != NULL);
	fprintf(conf,
		"num-threads: 1\n"
		"max-connections: 20000\n"
		"error-log: /dev/null\n"
		"http1-request-timeout: %d\n"
		"file.mime.setdefaulttype: text/plain\n"
		"listen:\n"
		"  host: 127.0.0.1\n"
		"  port: %d\n"
		"hosts:\n"
		"  default:\n"
		"    paths:\n"
		"      /:\n"
		"        file.dir: %s\n",
		HTTP_IDLE_SECONDS, server->port, server->dir);
	if (!http_wants_files(server))
		write_hello(server, conf);
	MEASURE_CHECK(server->m, fclose(conf) == 0);
	execl(H2O, "h2o", "-c", path, (char *)NULL);
}

int main(int argc, char **argv)
{
	if (access(H2O, X_OK) != 0)
		return MEASURE_SKIP;
	return http_main(argc, argv, serve);
}
