/* SPDX-License-Identifier: MIT */
/*
 * http_nginx.c - the peer nginx: one worker process, no log, connections that are kept
 * for any number of requests; files by sendfile.
 */
#include "../problems/http_rows.h"

#define NGINX "/usr/sbin/nginx"

static void write_location(const struct http_server *server, FILE *conf)
{
	if (http_wants_files(server))
		fprintf(conf, "    root %s;\n", server->dir);
	else
		fprintf(conf, "    location / { return 200 \"%s\"; }\n",
			HTTP_BODY);
}

static void serve(const struct http_server *server)
{
	const char *dir = server->dir;
	char path[96];
	FILE *conf;

	snprintf(path, sizeof(path), "%s/nginx.conf", dir);
	conf = fopen(path, "w");
	MEASURE_CHECK(server->m, conf != NULL);
	fprintf(conf,
		"daemon off;\n"
		"worker_processes 1;\n"
		"pid %s/pid;\n"
		"error_log %s/error.log;\n"
		"events { worker_connections 20000; }\n"
		"http {\n"
		"  access_log off;\n"
		"  keepalive_requests 1000000000;\n"
		"  keepalive_timeout %d;\n"
		"  sendfile on;\n"
		"  default_type text/plain;\n"
		"  client_body_temp_path %s/body;\n"
		"  proxy_temp_path %s/proxy;\n"
		"  fastcgi_temp_path %s/fastcgi;\n"
		"  uwsgi_temp_path %s/uwsgi;\n"
		"  scgi_temp_path %s/scgi;\n"
		"  server {\n"
		"    listen 127.0.0.1:%d;\n",
		dir, dir, HTTP_IDLE_SECONDS, dir, dir, dir, dir, dir,
		server->port);
	write_location(server, conf);
	fprintf(conf, "  }\n}\n");
	MEASURE_CHECK(server->m, fclose(conf) == 0);
	execl(NGINX, "nginx", "-c", path, "-p", dir, "-e", "/dev/null",
	      (char *)NULL);
}

int main(int argc, char **argv)
{
	if (access(NGINX, X_OK) != 0)
		return MEASURE_SKIP;
	return http_main(argc, argv, serve);
}
