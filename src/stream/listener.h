/* SPDX-License-Identifier: MIT */
/*
 * listener.h - what a server (stream/serve.c) asks of a listener.
 */
#ifndef SLEY_STREAM_LISTENER_H
#define SLEY_STREAM_LISTENER_H

#include "base/compiler.h"

#include <sley/listener.h>

must_check bool listener_is_closed(const struct sley_listener *listener);

/*
 * Wait until a connection has come, and leave it there.  1: there was one before; 0:
 * after a wait; or -errno.
 */
must_check int listener_await(const struct sley_listener *listener);

#endif
