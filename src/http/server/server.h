/* SPDX-License-Identifier: MIT */
/*
 * server.h - the connections of a server, for its stop.
 */
#ifndef SLEY_HTTP_SERVER_H
#define SLEY_HTTP_SERVER_H

#include "http/server/connection.h"

void server_add(struct sley_http_server *server, struct connection *connection);
void server_remove(struct sley_http_server *server,
		   struct connection *connection);

#endif
