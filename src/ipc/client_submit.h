/* SPDX-License-Identifier: MIT */
/*
 * client_submit.h - requests to the pools of a daemon: from a spec to a slot.
 *
 * The functions are those of struct pool_remote (route/remote.h).
 */
#ifndef SLEY_IPC_CLIENT_SUBMIT_H
#define SLEY_IPC_CLIENT_SUBMIT_H

#include "ipc/client.h"

must_check ssize_t client_submit(struct sley_pool *pool,
				 struct sley_request *const *requests,
				 const struct sley_request_spec *const *specs,
				 size_t nr);
must_check int client_forget(struct sley_pool *pool,
			     const struct sley_request_spec *spec);
must_check int client_call(struct sley_pool *pool, struct sley_request *request,
			   const struct sley_request_spec *spec);

#endif
