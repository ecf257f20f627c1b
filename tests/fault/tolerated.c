/* SPDX-License-Identifier: MIT */
/*
 * tolerated.c - see tolerated.h.
 *
 * A row holds for all sites of this call in this function, and for all errors unless it
 * names one.
 */
#include "fault/tolerated.h"

#include <errno.h>
#include <sley/error.h>
#include <string.h>

/* clang-format off: one row, one site */
static const struct tolerated table[] = {
	{ "os/text.c", "read_file", "open", .rule = ABSORBED,
	  .reason = "what /sys does not tell is taken to be usual" },
	{ "os/text.c", "read_file", "read", .rule = ABSORBED,
	  .reason = "as above" },
	{ "os/cpus.c", "read_affinity", "sched_getaffinity", .rule = ABSORBED,
	  .reason = "then all CPUs that are online count as usable" },
	{ "os/cpus.c", "os_cpus_usable", "sysconf", .rule = ABSORBED,
	  .second = true, .reason = "then there is one CPU" },
	{ "os/cpus.c", "os_cpu_node", "access", .rule = ABSORBED,
	  .reason = "then the CPU is of node 0" },
	{ "os/map.c", "os_no_huge_pages", "madvise", .rule = ABSORBED,
	  .reason = "advice: costs memory where it is not followed" },
	{ "os/map.c", "os_guard_advise", "madvise", .rule = ABSORBED,
	  .reason = "then mprotect() makes the guard" },
	{ "os/map.c", "guard_advise_batch", "process_madvise", .rule = ABSORBED,
	  .reason = "then one guard at a time" },
	{ "os/map.c", "os_discard", "madvise", .rule = ABSORBED,
	  .reason = "locked memory stays" },
	{ "os/map.c", "os_unmap", "munmap", .rule = ABSORBED, .loses_map = true,
	  .reason = "address space is lost, its pages are not" },
	{ "os/membarrier.c", "os_membarrier_setup", "membarrier",
	  .rule = ABSORBED,
	  .reason = "then waiting is guarded by fences; doctor says so" },
	{ "os/membarrier.c", "os_membarrier", "membarrier", .rule = ABSORBED,
	  .reason = "the global kind needs no memory, and takes longer" },
	{ "os/uring_queue.c", "setup", "io_uring_setup", .rule = ABSORBED,
	  .reason = "then a worker sleeps for descriptors in epoll, and files "
		    "are left to the pool of blocking calls" },
	{ "os/uring_queue.c", "uring_queue_operations", "io_uring_register",
	  .rule = ABSORBED, .reason = "as above" },
	{ "os/uring_queue.c", "map", "mmap", .rule = ABSORBED,
	  .reason = "as above" },
	{ "os/uring.c", "enter", "io_uring_enter", .rule = ABSORBED,
	  .reason = "as above, from now on" },
	{ "os/uring_file.c", "enter", "io_uring_enter", .rule = ABSORBED,
	  .reason = "as above" },
	{ "io/ring.c", "make_ring", "mem_alloc", .rule = ABSORBED,
	  .reason = "as above" },
	{ "modules/kv/store_set.c", "grow", "mem_alloc", .rule = ABSORBED,
	  .reason = "then the chains of the table are longer" },
	{ "os/network.c", "os_dup", "fcntl", .rule = ABSORBED,
	  .reason = "then the number is free when close() has returned" },
	{ "os/file_call.c", "os_try_preadv", "preadv2", .rule = ABSORBED,
	  .reason = "then the ring or a thread makes the call" },
	{ "os/file_call.c", "os_try_pwritev", "pwritev2", .rule = ABSORBED,
	  .reason = "as above" },
	{ "os/file_call.c", "send_file", "sendfile", .error = EAGAIN,
	  .rule = EITHER, .reason = "waits until there is room, or too long" },
	{ "os/file_call.c", "splice_bytes", "splice", .error = EAGAIN,
	  .rule = EITHER, .reason = "as above" },
	{ "ipc/greeting.c", "refuse", "os_seqpacket_send", .rule = ABSORBED,
	  .reason = "then the process that is refused sees the end alone" },
	{ "domain/host_guest.c", "refuse", "os_seqpacket_send",
	  .as = -ECONNREFUSED, .reason = "as above" },
	{ "domain/host_guest.c", "tell_with", "os_seqpacket_send",
	  .rule = EITHER,
	  .reason = "a guest that is not told is sent away; it may be on its "
		    "way out" },
	{ "domain/host.c", "listen_again", "os_epoll_add", .rule = ABSORBED,
	  .reason = "then the host tries again later" },
	{ "core/wait/loan.c", "loan_prepare", "mem_alloc", .rule = ABSORBED,
	  .reason = "then no level is lent" },
	{ "core/wait/loan.c", "loan_promise", "mem_alloc", .rule = ABSORBED,
	  .reason = "as above" },
	{ "stream/serve.c", "prepare", "slab_alloc", .rule = EITHER,
	  .reason = "a server tries again; it is a shortage, and reported, "
		    "only if a connection waits" },
	{ "os/symbol.c", "os_symbol", "dladdr", .rule = ABSORBED,
	  .reason = "then the report has an address" },
	{ "os/thread.c", "os_thread_start_on", "pthread_setname_np",
	  .rule = ABSORBED, .reason = "only for the eyes" },
	{ "os/signal.c", "fault_release_one", "sigaction", .rule = ABSORBED,
	  .reason = "our handler stays, knows no fiber and passes on" },
	{ "os/signal.c", "fault_catch_one", "sigaction", .rule = ABSORBED,
	  .reason = "an overflow dies without a report" },
	{ "os/signal.c", "os_alt_stack_set", "os_map", .rule = ABSORBED,
	  .not_sanitized = true,
	  .reason = "an overflow on this thread dies without a report" },
	{ "os/signal.c", "os_alt_stack_set", "sigaltstack", .rule = ABSORBED,
	  .not_sanitized = true, .reason = "as above" },
	{ "os/signal.c", "os_alt_stack_unset", "sigaltstack", .rule = ABSORBED,
	  .loses_map = true, .not_sanitized = true,
	  .reason = "what the kernel may still use is not unmapped" },
	{ "os/signal.c", "os_print_error", "write", .rule = ABSORBED,
	  .not_sanitized = true,
	  .reason = "last words; nobody is left to be told" },
	{ "os/at_fork.c", "watch_forks", "pthread_atfork", .rule = NO_SWEEP,
	  .reason = "runs before main(), when the library is loaded; aborts "
		    "with a line, as the loader does when it has no memory" },

	{ "graph/node/node_store.c", "reserve", "os_reserve", .rule = EITHER,
	  .reason = "fewer addresses may do" },

	/* No stack: who creates is told, who runs waits for one. */
	{ "mem/stack.c", "chunk_map", "os_map", .rule = EITHER,
	  .reason = "a smaller chunk may do; else see strand_new" },
	{ "os/map.c", "os_guard_protect", "mprotect", .rule = EITHER,
	  .reason = "only asked where advice failed; else see strand_new" },
	{ "mem/slab.c", "chunk_create", "mem_alloc_aligned", .rule = EITHER,
	  .reason = "see strand_new and fork_steal" },
	{ "core/sched/strand.c", "strand_new", "slab_alloc", .rule = EITHER,
	  .reason = "creating reports it; a blocked task waits for a stack" },
	{ "core/sched/strand.c", "strand_new", "stack_pool_get", .rule = EITHER,
	  .reason = "as above" },

	{ "core/wait/blocking.c", "start_thread", "os_thread_start_on",
	  .rule = EITHER,
	  .reason = "waits for a thread that is there; none: -EAGAIN" },
	{ "os/thread.c", "create", "pthread_create", .as = SLEY_ECPUS,
	  .reason = "the kernel took the CPUs away" },
	{ "os/thread.c", "os_thread_at_exit", "pthread_key_create",
	  .as = -ENOMEM, .reason = "the one error of sley_local_set()" },
	{ "core/sched/steal.c", "fork_steal", "slab_alloc", .rule = ABSORBED,
	  .reason = "the child stays with its parent, which runs it" },
	{ "core/sched/steal.c", "fork_seize", "slab_alloc", .rule = ABSORBED,
	  .reason = "as above" },
	{ "core/sched/steal.c", "queue_children", "slab_alloc",
	  .rule = ABSORBED, .reason = "as above" },
	{ "core/sched/steal.c", "fork_give", "slab_alloc", .rule = ABSORBED,
	  .reason = "the child runs when it is joined" },
	{ "core/sched/steal.c", "fork_make_room", "mem_alloc", .rule = ABSORBED,
	  .reason = "the child runs when it is joined" },
	{ "core/trace/trace_scope.c", "scopes_of", "mem_alloc", .rule = EITHER,
	  .reason = "the scope is counted as lost, which the report of the "
		    "trace says" },
	{ "core/life/drain.c", "report_strands", "mem_alloc", .rule = EITHER,
	  .reason = "the report has a number instead of names" },
	{ "core/wait/blocking.c", "start_thread", "mem_alloc", .rule = EITHER,
	  .as = -EAGAIN,
	  .reason = "waits for a thread that is there; none: -EAGAIN" },
	{ "core/wait/region.c", "region_create", "mem_alloc", .as = -EAGAIN,
	  .reason = "-EAGAIN: there is no thread" },
	{ "route/group_map.c", "has_slots", "mem_alloc", .rule = ABSORBED,
	  .reason = "the requests of a group go where the policy says, one "
		    "by one" },
	{ "parallel/pipeline.c", "run_pipeline", "mem_alloc", .rule = ABSORBED,
	  .reason = "then one item is under way at a time" },
	{ "actor/supervisor/children.c", "grow", "mem_alloc", .rule = ABSORBED,
	  .reason = "children are found more slowly" },
	{ "core/life/intensity.c", "grow", "mem_alloc", .rule = ABSORBED,
	  .reason = "the oldest failure is forgotten" },

	/* The kernel's help for processes that share the cores. */
	{ "os/futex.c", "waitv", "futex_waitv", .rule = EITHER,
	  .reason = "a worker that waits for a core looks at times instead" },
	{ "os/sched_attr.c", "get", "sched_getattr", .rule = EITHER,
	  .reason = "then a worker keeps the slice that it has" },
	{ "os/sched_attr.c", "set", "sched_setattr", .rule = EITHER,
	  .reason = "as above" },
	{ "os/sched_attr.c", "os_sched_set_nice", "setpriority", .rule = EITHER,
	  .reason = "then a process is not lowered" },
	{ "os/sched_attr.c", "os_sched_may_restore_nice", "os_thread_start",
	  .rule = ABSORBED,
	  .reason = "not known counts as no: then a host lowers nobody" },
	{ "os/sched_attr.c", "os_thread_set_slack", "prctl", .rule = EITHER,
	  .reason = "then timed waits end up to 50 us later" },

	/* Children that are processes. */
	{ "os/pidfd.c", "os_pidfd_open", "pidfd_open", .rule = EITHER,
	  .reason = "the server of subprocesses ends with the thread that "
		    "forked it; no program is started" },
	{ "os/pidfd.c", "os_watch_children", "signalfd", .as = SLEY_ECHILD,
	  .reason = "in the server, which ends" },
	{ "subprocess/fork_server.c", "set_up", "os_epoll_create",
	  .as = SLEY_ECHILD, .reason = "as above" },
	{ "subprocess/fork_server.c", "set_up", "os_epoll_add",
	  .as = SLEY_ECHILD, .reason = "as above" },
	{ "subprocess/fork_server.c", "watch_program", "os_epoll_add",
	  .as = SLEY_ECHILD, .reason = "as above" },
	{ "subprocess/fork_server.c", "notify", "os_seqpacket_send",
	  .rule = EITHER, .as = SLEY_ECHILD,
	  .reason = "as above; nobody is told that what shall end has" },
	{ "subprocess/fork_server.c", "start", "os_fork", .rule = EITHER,
	  .reason = "a restart is tried again, as often as is tolerated" },
	{ "subprocess/serve.c", "subprocess_serve", "os_shared_memory_map",
	  .rule = EITHER, .as = SLEY_ECHILD,
	  .reason = "in a child, which ends; a restart is tried again" },
	{ "core/sched/poller.c", "open_both", "os_epoll_create", .rule = EITHER,
	  .reason = "without a source, the collector hears the answers of "
		    "subprocesses" },
	{ "core/sched/poller.c", "poller_watch", "os_epoll_add", .rule = EITHER,
	  .reason = "as above" },
	{ "os/local_socket.c", "os_local_peer_pidfd", "SO_PEERPIDFD",
	  .rule = ABSORBED,
	  .reason = "then pidfd_open(), or the end of the connection says it" },
	{ "subprocess/listener.c", "open_listener", "mem_alloc",
	  .rule = ABSORBED, .reason = "the collector hears the answers" },
	{ "subprocess/listener.c", "open_listener", "os_epoll_create",
	  .rule = ABSORBED, .reason = "as above" },
	{ "subprocess/listener.c", "add", "os_epoll_add_edge", .rule = ABSORBED,
	  .reason = "as above" },
	{ "subprocess/collector.c", "collector_start", "os_seqpacket_send",
	  .rule = EITHER,
	  .reason = "a restart is tried again, as often as is tolerated" },
	{ "subprocess/collector.c", "collector_kill", "os_seqpacket_send",
	  .rule = EITHER, .as = SLEY_ECHILD,
	  .reason = "the server ends, and all children with it" },
};
/* clang-format on */

const struct tolerated *tolerated_find(const struct fault_site *site, int error)
{
	const char *file = strstr(site->file, "src/");

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		const struct tolerated *row = &table[i];

		if (file && strcmp(file + 4, row->file) == 0 &&
		    strcmp(site->function, row->function) == 0 &&
		    strcmp(site->call, row->call) == 0 &&
		    (!row->error || row->error == error))
			return row;
	}
	return NULL;
}
