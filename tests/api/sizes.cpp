/* SPDX-License-Identifier: MIT */
/*
 * sizes.cpp - the same layout, seen from C++, and the names in extern "C".
 */
#include <type_traits>

#include <sley/sley.h>

static_assert(sizeof(struct sley_task) == 64, "sley_task");
static_assert(sizeof(struct sley_group) == 24, "sley_group");
static_assert(sizeof(struct sley_mutex) == 16, "sley_mutex");
static_assert(sizeof(struct sley_case) == 24, "sley_case");
static_assert(sizeof(struct sley_future) == 32, "sley_future");
static_assert(sizeof(struct sley_fork) == 32, "sley_fork");
static_assert(sizeof(struct sley_rwlock) == 24, "sley_rwlock");
static_assert(sizeof(struct sley_cpus) == 512, "sley_cpus");
static_assert(std::is_trivial<struct sley_task>::value, "sley_task");

struct sley_group sley_sizes_group = SLEY_GROUP_INIT;
struct sley_event sley_sizes_event = SLEY_EVENT_AUTO_INIT;
struct sley_mutex sley_sizes_mutex = SLEY_MUTEX_INIT;
struct sley_future sley_sizes_future = SLEY_FUTURE_INIT;

static const int sley_sizes_value = 1;
struct sley_case sley_sizes_cases[] = {
	SLEY_CASE_SEND(nullptr, &sley_sizes_value),
	SLEY_CASE_RECV(nullptr, nullptr),
};
struct sley_rwlock sley_sizes_rwlock = SLEY_RWLOCK_INIT;
struct sley_rwlock_tree sley_sizes_tree;
struct sley_rwlock sley_sizes_rwlock_tree =
	SLEY_RWLOCK_TREE_INIT(&sley_sizes_tree);

bool sley_sizes_lock(void)
{
	return sley_mutex_try_lock(&sley_sizes_mutex);
}

static void sley_sizes_set(void *event)
{
	sley_event_set(static_cast<struct sley_event *>(event));
}

bool sley_sizes_guard(void)
{
	SLEY_MUTEX_GUARD(&sley_sizes_mutex);
	SLEY_DEFER(sley_sizes_set, &sley_sizes_event);
	return sley_event_is_set(&sley_sizes_event);
}
