/* SPDX-License-Identifier: MIT */
/*
 * isolated.h - pools whose containers are in subprocesses (<sley/subprocess.h>).
 *
 * The program has a *stand-in* for each container: a container as any other, with its
 * door, whose module is a table of the library.  Its methods send the request to the
 * subprocess, and wait for the answer as any method may wait.  So requests, doors,
 * deadlines, broadcasts and policies know nothing of isolation, and their paths
 * cost what they did.
 *
 *   program                                     subprocess
 *   stand-in ── birth, with each start ───────► a runtime, a router, the module, a pool
 *                                               with the one container: create()
 *   method   ── head, IN part ────────────────► sley_pool_call() to the container
 *            ◄── code, OUT part ───────────────
 *
 * IN and OUT parts go through the ring of calls, and those that fit no slot through a
 * crate (subprocess/crate.h): a request may be as large as one to any other pool.
 *
 * The subprocess (isolated_serve.c) has real parts, in the single-threaded mode.  So a
 * method runs there as it does here, on the stack of the process, one at a time.  The
 * pool there has the name and the number of containers of this pool, but all containers
 * but one are gone: a request of a method to another container completes with -ENOENT.
 *
 * The module.  The fork server is older than the router, so the subprocess finds the table
 * of the module in one of two ways.  A module from a file is loaded there again, by the
 * rules of load.h.  The table of any other module is at the same address there, if the
 * table was in the program when the fork server was forked; the subprocess asks the
 * dynamic linker whether the address is that of a loaded file.  Name, version and number
 * of methods must be those of the program's table, or there is no container.
 *
 * Ends.  A subprocess that dies fails the request that had begun (SLEY_ECHILD), and is
 * started again with the same birth: create() makes a new state.  Requests that had not
 * begun are run by the new one.  A request that is cancelled, or whose deadline passes,
 * is given up: the stand-in waits no more, its memory is not touched any more, and the
 * method goes on in the subprocess.  There its waits end at the same deadline.  At the
 * end of the pool the stand-in asks first whether the subprocess is free.  If a request
 * that was given up still runs after a second, the subprocess is stopped, or killed one
 * second later, and destroy() is not called.
 *
 * Functions of the module that run in the program: combine(), which knows no state; and
 * schedule() and io_size() of a module that says SLEY_MODULE_STATELESS.  Such a function
 * can crash the program.  A pool of a module whose schedule() has a state is refused:
 * without schedule() its requests would go to the wrong containers.
 *
 * Rejected: a branch in request.c (a load and a branch for each request of each pool);
 * several subprocesses for a container (its state would be several); a request that
 * waits until its method has ended, also after its deadline (a method that hangs would
 * hold the submitter, and IN and OUT are copies here).
 */
#ifndef SLEY_ROUTE_ISOLATED_H
#define SLEY_ROUTE_ISOLATED_H

#include "base/compiler.h"

#include <sley/module.h>
#include <sley/pool.h>
#include <sley/subprocess.h>

/* ---- for pool.c and container.c ---------------------------------------------------- */

struct isolation; /* of a pool */

/*
 * Makes @pool isolated: its module becomes the table of stand-ins.  0 or -ENOMEM.  With
 * the lock of the router, before other threads know the pool.
 */
must_check int isolation_make(struct sley_pool *pool,
			      const struct sley_pool_options *options);

/* NULL is nothing to free. */
void isolation_free(struct sley_pool *pool);

/* In place of create(): starts the subprocess.  0, or the errors of sley_pool_open(). */
must_check int isolated_start(struct sley_container *container,
			      const struct sley_container_info *info);

/* Is its process not started again?  Inside of the door of @container. */
must_check bool isolated_is_down(const struct sley_container *container);

/* The process of a container; 0: it is in this process, or there is none now. */
must_check int isolated_pid(const struct sley_container *container);

/* ---- between the program and a subprocess ------------------------------------------ */

/* What a subprocess needs to make its container: the argument of its start. */
struct isolated_birth {
	const struct sley_module *table; /* NULL: the module is a file       */
	uint32_t version;                /* of the module                    */
	uint32_t nr_methods;
	uint32_t id;
	uint32_t nr;
	uint32_t params_size;      /* follow                                 */
	uint32_t directories_size; /* follow then, with the 0 at the end     */
	char module[SLEY_POOL_NAME_MAX + 1];
	char pool[SLEY_POOL_NAME_MAX + 1];
};

enum isolated_kind {
	ISOLATED_RUN,            /* a method: IN follows, OUT comes back      */
	ISOLATED_WORK_REMAINING, /* a uint64_t comes back                     */
	ISOLATED_MONITOR,        /* a query follows, a text comes back        */
	ISOLATED_IS_FREE,        /* nothing: is it this call's turn?          */
	ISOLATED_END,            /* destroy()                                 */
};

/* Before the argument of a call. */
struct isolated_head {
	uint32_t kind;   /* enum isolated_kind                               */
	uint32_t method; /* of ISOLATED_RUN                                  */
	uint64_t deadline_ns;
	uint64_t room; /* for what comes back                                */
	uint64_t reserved;
};

/* In the subprocess: begins a life, and runs a call.  isolated_serve.c. */
sley_subprocess_fn isolated_serve_start;
sley_subprocess_fn isolated_serve_call;

#endif
