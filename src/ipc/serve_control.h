/* SPDX-License-Identifier: MIT */
/*
 * serve_control.h - requests for the daemon itself: pools are opened and closed, requests
 * cancelled, segments made and given back (enum wire_control of ipc/wire.h).
 *
 * All but the opening of a pool is done by the taker, at once.  A pool is opened by a task:
 * create() of a module may take its time.
 */
#ifndef SLEY_IPC_SERVE_CONTROL_H
#define SLEY_IPC_SERVE_CONTROL_H

#include "ipc/serve_request.h"

/* serve_end() will be called. */
#define SERVE_LATER 1

/* The code of the request, with serve->answer_size; or SERVE_LATER. */
must_check int serve_control(struct serve *serve, uint32_t method);

#endif
