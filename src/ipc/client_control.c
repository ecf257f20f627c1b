/* SPDX-License-Identifier: MIT */
/*
 * client_control.c - see client_control.h.
 */
#include "ipc/client_control.h"

#include "ipc/client_pool.h"
#include "ipc/client_wait.h"

#include <errno.h>

void client_control_fill(struct sley_client *client,
			 struct sley_request *request, uint32_t flags)
{
	static const struct sley_request_spec empty = { .size = sizeof(empty) };

	request_fill(request, &empty, flags);
	request->series = &client->daemon.pool;
	request->remote = 1;
}

int client_control_locked(struct sley_client *client,
			  struct sley_request *request,
			  enum wire_control method,
			  const struct wire_number *in, struct wire_number *out,
			  uint32_t flags)
{
	struct link_submission what = {
		.head = { .method = method,
			  .out_room = out ? sizeof(*out) : 0 },
		.in = in,
		.in_size = sizeof(*in),
		.out = out,
		.owner = request,
	};
	int64_t slot;

	if (request)
		client_control_fill(client, request, flags);
	slot = link_submit(&client->link, &what);
	if (slot >= 0 && request)
		request->worker = (uint32_t)slot;
	return slot < 0 ? (int)slot : 0;
}

/* Once.  The code of the answer, or why the daemon was not asked. */
static int ask(struct sley_client *client, struct link_submission *what,
	       uint64_t *session)
{
	struct sley_request request;
	int64_t slot;

	client_control_fill(client, &request, 0);
	what->owner = &request;
	client_lock(client);
	slot = link_submit(&client->link, what);
	if (slot >= 0)
		request.worker = (uint32_t)slot;
	*session = client->session;
	client_unlock(client);
	if (slot < 0)
		return (int)slot;
	(void)!client_wait(client, &request, WAIT_SHIELDED);
	return request.code;
}

int client_control(struct sley_client *client, struct link_submission *what,
		   uint64_t *session)
{
	for (;;) {
		int code = ask(client, what, session);

		if (code == -ESTALE)
			(void)!client_wait_live(client, WAIT_SHIELDED);
		else if (code == -EAGAIN)
			(void)!client_wait_room(client, WAIT_SHIELDED);
		else
			return code;
	}
}
