/* SPDX-License-Identifier: MIT */
/*
 * tour_http.c - a server of HTTP, and clients that fetch its page.
 */
#include "tour.h"

#include <sley/http.h>
#include <sley/sley.h>
#include <string.h>

#define NR_CLIENTS 10
#define NR_EACH 100

static const char page[] = "<!DOCTYPE html><title>sley</title><p>Hello.\n";

struct tour_site {
	struct sley_http_server server;
	char address[64];
	int fetched[NR_CLIENTS];
};

struct tour_fetch {
	struct tour_site *site;
	int idx;
};

static int serve_page(struct sley_http_request *request,
		      struct sley_http_response *response, void *arg)
{
	(void)request;
	(void)arg;
	return sley_http_respond(response, 200, "text/html", page,
				 sizeof(page) - 1);
}

static int run_server(void *arg)
{
	struct tour_site *site = arg;

	return sley_http_server_run(&site->server);
}

/* One connection; NR_EACH requests, one after the other. */
static int fetch(void *arg)
{
	struct tour_fetch *fetch = arg;
	struct tour_site *site = fetch->site;
	struct sley_http_client client;
	char got[128];
	ssize_t n = sley_http_connect(&client, site->address);

	if (n)
		return (int)n;
	for (int i = 0; i < NR_EACH; i++) {
		n = sley_http_ask(&client, SLEY_HTTP_QUESTION(.target = "/"));
		if (n == 200)
			n = sley_http_answer_read(&client, got, sizeof(got));
		if (n != sizeof(page) - 1 || memcmp(got, page, (size_t)n) != 0)
			break;
		site->fetched[fetch->idx]++;
	}
	sley_http_client_close(&client);
	return n < 0 ? (int)n : 0;
}

static int fetch_all(struct tour_site *site)
{
	struct tour_fetch fetches[NR_CLIENTS];
	struct sley_task tasks[NR_CLIENTS];
	struct sley_scope scope;

	sley_scope_open_until(&scope, sley_after(20 * SLEY_SEC));
	for (int i = 0; i < NR_CLIENTS; i++) {
		fetches[i] = (struct tour_fetch){ site, i };
		sley_scope_spawn(&scope, &tasks[i], fetch, &fetches[i]);
	}
	return sley_scope_close(&scope);
}

void tour_http(struct outcome *out)
{
	struct tour_site site = { .fetched = { 0 } };
	struct sley_scope scope;
	struct sley_task task;
	int err, stopped, nr = 0;

	err = sley_http_server_open(&site.server, "127.0.0.1:0", serve_page,
				    NULL, NULL);
	if (err) {
		outcome_trouble(out, "no server: %s", sley_strerror(err));
		return;
	}
	err = sley_http_server_address(&site.server, site.address,
				       sizeof(site.address));
	sley_scope_open(&scope);
	sley_scope_spawn(&scope, &task, run_server, &site);
	outcome_start(out);
	if (err > 0)
		err = fetch_all(&site);
	outcome_stop(out);
	stopped = sley_http_server_stop(&site.server);
	if (!err)
		err = stopped;
	stopped = sley_scope_close(&scope);
	if (!err)
		err = stopped;
	for (int i = 0; i < NR_CLIENTS; i++)
		nr += site.fetched[i];
	if (err)
		outcome_trouble(out, "HTTP failed: %s", sley_strerror(err));
	else if (nr != NR_CLIENTS * NR_EACH)
		outcome_trouble(out, "only %d pages arrived", nr);
	outcome_result(out, "%.0f us a page", outcome_ns(out) / 1000 / nr);
}
