/* SPDX-License-Identifier: MIT */
/*
 * sley/sley.h - all headers of the library at once.
 *
 * Read in this order: runtime.h (start and stop), task.h (spawn and join),
 * time.h, error.h; sync.h (event, wait group, mutex, condition variable) and
 * chan.h, select.h (wait for each other); then the others, as you need them:
 *
 *   rwlock.h semaphore.h barrier.h once.h    more ways to wait
 *   future.h ticket.h                        later values; turns in order
 *   waker.h                                  wake a task by its number
 *   blocking.h                               calls that hold a thread
 *   io.h                                     sockets, pipes, files
 *   signal.h program.h                       signals and programs as waits
 *   stream.h listener.h                      connections; servers
 *   address.h datagram.h                     addresses; single messages
 *   source.h                                 work from your own event loop
 *   pool.h, request.h, query.h               requests to named pools
 *   module.h, param.h, policy.h              what serves them, and on which worker
 *   client.h                                 the same to a daemon: another process
 *   server.h                                 other processes submit to this one
 *   domain.h domain_host.h                   cores shared with other processes
 *   pool_inspect.h                           the figures of pools, also as JSON
 *   admin.h file_module.h kv.h               modules that come with the library
 *   scope.h                                  tasks that fail and end together
 *   fork.h forkable.h parallel.h             functions in parallel
 *   for.h reduce.h scan.h find.h sort.h      loops, sums, searches and order
 *   pipeline.h feed.h how.h                  stages; options of all of these
 *   stock.h shared.h defer.h                 objects to borrow, share, clean up
 *   local.h                                  variables of a task
 *   cpus.h                                   where workers run
 *   process.h message.h                      processes, and messages to them
 *   actor.h step.h                           as functions, as state machines
 *   supervisor.h topic.h post.h              restarts, topics, delayed messages
 *   graph.h graph_scope.h                    tasks in the order of their data
 *   graph_run.h graph_buffer.h               runs of a graph; their memory
 *   graph_function.h                         nodes of functions of any type
 *   plan.h                                   recorded once, run many times
 *   subprocess.h                             functions in other OS processes
 *   graph_dump.h                             graphs as a text, for pictures
 *   trace.h version.h
 */
#ifndef SLEY_SLEY_H
#define SLEY_SLEY_H

#include <sley/actor.h>
#include <sley/address.h>
#include <sley/admin.h>
#include <sley/barrier.h>
#include <sley/blocking.h>
#include <sley/chan.h>
#include <sley/client.h>
#include <sley/subprocess.h>
#include <sley/compiler.h>
#include <sley/cpus.h>
#include <sley/datagram.h>
#include <sley/defer.h>
#include <sley/domain.h>
#include <sley/domain_host.h>
#include <sley/error.h>
#include <sley/feed.h>
#include <sley/file_module.h>
#include <sley/find.h>
#include <sley/for.h>
#include <sley/fork.h>
#include <sley/forkable.h>
#include <sley/future.h>
#include <sley/graph.h>
#include <sley/graph_buffer.h>
#include <sley/graph_dump.h>
#include <sley/graph_function.h>
#include <sley/graph_run.h>
#include <sley/graph_scope.h>
#include <sley/how.h>
#include <sley/io.h>
#include <sley/kv.h>
#include <sley/listener.h>
#include <sley/local.h>
#include <sley/message.h>
#include <sley/module.h>
#include <sley/once.h>
#include <sley/parallel.h>
#include <sley/param.h>
#include <sley/pipeline.h>
#include <sley/plan.h>
#include <sley/policy.h>
#include <sley/pool.h>
#include <sley/pool_inspect.h>
#include <sley/post.h>
#include <sley/process.h>
#include <sley/program.h>
#include <sley/query.h>
#include <sley/reduce.h>
#include <sley/request.h>
#include <sley/runtime.h>
#include <sley/rwlock.h>
#include <sley/scan.h>
#include <sley/scope.h>
#include <sley/select.h>
#include <sley/server.h>
#include <sley/semaphore.h>
#include <sley/shared.h>
#include <sley/signal.h>
#include <sley/sort.h>
#include <sley/source.h>
#include <sley/step.h>
#include <sley/stock.h>
#include <sley/stream.h>
#include <sley/supervisor.h>
#include <sley/sync.h>
#include <sley/task.h>
#include <sley/ticket.h>
#include <sley/time.h>
#include <sley/topic.h>
#include <sley/trace.h>
#include <sley/version.h>
#include <sley/waker.h>

#endif
