/* SPDX-License-Identifier: MIT */
/*
 * sley/sley.h - everything.
 *
 * Read in this order: runtime.h (start and stop), task.h (spawn and join),
 * sync.h and chan.h (wait for each other), time.h, fork.h, error.h.
 */
#ifndef SLEY_SLEY_H
#define SLEY_SLEY_H

#include <sley/barrier.h>
#include <sley/blocking.h>
#include <sley/chan.h>
#include <sley/compiler.h>
#include <sley/cpus.h>
#include <sley/error.h>
#include <sley/fork.h>
#include <sley/local.h>
#include <sley/once.h>
#include <sley/future.h>
#include <sley/runtime.h>
#include <sley/select.h>
#include <sley/defer.h>
#include <sley/error.h>
#include <sley/fork.h>
#include <sley/parallel.h>
#include <sley/runtime.h>
#include <sley/shared.h>
#include <sley/stock.h>
#include <sley/semaphore.h>
#include <sley/rwlock.h>
#include <sley/sync.h>
#include <sley/task.h>
#include <sley/ticket.h>
#include <sley/time.h>
#include <sley/trace.h>
#include <sley/version.h>
#include <sley/waker.h>

#endif
