/* SPDX-License-Identifier: MIT */
/*
 * http_nginx.c - the peer nginx: one worker process, no log, connections that are kept
 * for any number of requests.
 */
#include "../problems/http_load.h"

static void serve(int port, const struct measure *m)
{
	char dir[] = "/tmp/sley-bench-nginx.XXXXXX", path[64];
	FILE *conf;

	MEASURE_CHECK(m, mkdtemp(dir) != NULL);
	snprintf(path, sizeof(path), "%s/nginx.conf", dir);
	conf = fopen(path, "w");
	MEASURE_CHECK(m, conf != NULL);
	fprintf(conf,
		"daemon off;\n"
		"worker_processes 1;\n"
		"pid %s/pid;\n"
		"error_log %s/error.log;\n"
		"events { worker_connections 20000; }\n"
		"http {\n"
		"  access_log off;\n"
		"  keepalive_requests 1000000000;\n"
		"  default_type text/plain;\n"
		"  client_body_temp_path %s/body;\n"
		"  proxy_temp_path %s/proxy;\n"
		"  fastcgi_temp_path %s/fastcgi;\n"
		"  uwsgi_temp_path %s/uwsgi;\n"
		"  scgi_temp_path %s/scgi;\n"
		"  server {\n"
		"    listen 127.0.0.1:%d;\n"
		"    location / { return 200 \"%s\"; }\n"
		"  }\n"
		"}\n",
		dir, dir, dir, dir, dir, dir, dir, port, HTTP_BODY);
	MEASURE_CHECK(m, fclose(conf) == 0);
	execlp("nginx", "nginx", "-c", path, "-p", dir, "-e", "/dev/null",
	       (char *)NULL);
	execl("/usr/sbin/nginx", "nginx", "-c", path, "-p", dir, "-e",
	      "/dev/null", (char *)NULL);
}

static void run_hello(const struct measure *m)
{
	if (access("/usr/sbin/nginx", X_OK) != 0)
		exit(MEASURE_SKIP);
	http_hello(m, serve);
}

int main(int argc, char **argv)
{
	static const struct measure_row rows[] = {
		{ "http-hello", run_hello },
	};

	return measure_main(argc, argv, rows, sizeof(rows) / sizeof(rows[0]));
}
