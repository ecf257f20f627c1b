/* SPDX-License-Identifier: MIT */
/*
 * client_control.h - requests to the daemon itself (enum wire_control).
 */
#ifndef SLEY_IPC_CLIENT_CONTROL_H
#define SLEY_IPC_CLIENT_CONTROL_H

#include "ipc/client.h"

/*
 * Sends a request, again after a reconnect, and waits for the answer, which a cancel of the
 * caller does not end.  The code of the answer, or -EHOSTDOWN.  *@session: of the daemon
 * that has answered.
 */
must_check int client_control(struct sley_client *client,
			      struct link_submission *what, uint64_t *session);

/* An empty request of the library's own. */
void client_control_fill(struct sley_client *client,
			 struct sley_request *request, uint32_t flags);

#endif
