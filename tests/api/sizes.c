/* SPDX-License-Identifier: MIT */
/*
 * sizes.c - the layout of what callers own.
 *
 * Programs hold these by the thousand and were compiled with the sizes of
 * their day: a change here is a change of the binary interface.
 */
#include <sley/config_file.h>
#include <sley/http.h>
#include <sley/sley.h>

#define SIZE_IS(type, size) _Static_assert(sizeof(struct type) == (size), #type)

SIZE_IS(sley_task, 64);
SIZE_IS(sley_group, 24);
SIZE_IS(sley_waitq, 16);
SIZE_IS(sley_event, 16);
SIZE_IS(sley_waitgroup, 16);
SIZE_IS(sley_mutex, 16);
SIZE_IS(sley_cond, 16);
SIZE_IS(sley_local, 8);
SIZE_IS(sley_sem, 16);
SIZE_IS(sley_barrier, 24);
SIZE_IS(sley_once_flag, 24);
SIZE_IS(sley_case, 24);
SIZE_IS(sley_future, 32);
SIZE_IS(sley_forked, 32);
SIZE_IS(sley_rwlock, 24);
SIZE_IS(sley_rwlock_tree, 144);
SIZE_IS(sley_waker, 16);
SIZE_IS(sley_domain_waker, 32);
SIZE_IS(sley_ticket_queue, 32);
SIZE_IS(sley_ticket, 56);
SIZE_IS(sley_invocation, 16);
SIZE_IS(sley_cpus, 512);
SIZE_IS(sley_cpu, 32);
SIZE_IS(sley_query, 24);
SIZE_IS(sley_request, 248);
SIZE_IS(sley_method, 40);
SIZE_IS(sley_module, 112);
SIZE_IS(sley_policy, 104);

/* IN and OUT parts of the modules: client processes have the same. */
SIZE_IS(sley_pool_name, 64);
SIZE_IS(sley_admin_target, 88);
SIZE_IS(sley_admin_make, 152);
SIZE_IS(sley_admin_query, 272);
SIZE_IS(sley_file_open, 1024);
SIZE_IS(sley_file_opened, 16);
SIZE_IS(sley_file_number, 8);
SIZE_IS(sley_file_at, 32);
SIZE_IS(sley_file_stat, 64);

/* The first field says how much of the struct the caller knows. */
_Static_assert(offsetof(struct sley_config, size) == 0, "sley_config");
_Static_assert(offsetof(struct sley_options, size) == 0, "sley_options");
_Static_assert(offsetof(struct sley_stock_config, size) == 0,
	       "sley_stock_config");

_Static_assert(offsetof(struct sley_source_options, size) == 0,
	       "sley_source_options");
_Static_assert(offsetof(struct sley_config_file_options, size) == 0,
	       "sley_config_file_options");
_Static_assert(offsetof(struct sley_http_options, size) == 0,
	       "sley_http_options");
_Static_assert(offsetof(struct sley_http_question, size) == 0,
	       "sley_http_question");
_Static_assert(offsetof(struct sley_request_spec, size) == 0,
	       "sley_request_spec");
_Static_assert(offsetof(struct sley_router_options, size) == 0,
	       "sley_router_options");
_Static_assert(offsetof(struct sley_pool_options, size) == 0,
	       "sley_pool_options");
_Static_assert(offsetof(struct sley_router_stats, size) == 0,
	       "sley_router_stats");
_Static_assert(offsetof(struct sley_kv_params, size) == 0, "sley_kv_params");
_Static_assert(offsetof(struct sley_kv_how, size) == 0, "sley_kv_how");
_Static_assert(offsetof(struct sley_router_worker_stats, size) == 0,
	       "sley_router_worker_stats");
_Static_assert(offsetof(struct sley_pool_stats, size) == 0, "sley_pool_stats");
_Static_assert(offsetof(struct sley_container_stats, size) == 0,
	       "sley_container_stats");
_Static_assert(offsetof(struct sley_admin_params, size) == 0,
	       "sley_admin_params");
_Static_assert(offsetof(struct sley_file_params, size) == 0,
	       "sley_file_params");

/* Tables of the program: the version comes first, then the size. */
_Static_assert(offsetof(struct sley_module, abi) == 0, "sley_module");
_Static_assert(offsetof(struct sley_policy, abi) == 0, "sley_policy");

/* Messages to the module kv, which other processes may send. */
SIZE_IS(sley_kv_request, 32);
SIZE_IS(sley_kv_scan_request, 16);
SIZE_IS(sley_kv_entry, 24);
SIZE_IS(sley_kv_page, 24);
SIZE_IS(sley_kv_item, 24);
SIZE_IS(sley_kv_stats, 128);

int sley_sizes;
