/* SPDX-License-Identifier: MIT */
/*
 * http.c - rows `http-...`: the server of <sley/http.h>, as users get it: its parser,
 * its limits and its deadlines are on.
 */
#include "rows.h"

#include "../problems/http_load.h"

#include <sley/http.h>

static int hello(struct sley_http_request *request,
		 struct sley_http_response *response, void *arg)
{
	(void)request;
	(void)arg;
	return sley_http_add(response, "Server", "sley")
		       ?: sley_http_respond(response, 200, "text/plain",
					    HTTP_BODY, sizeof(HTTP_BODY) - 1);
}
