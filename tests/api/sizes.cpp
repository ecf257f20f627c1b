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
static_assert(sizeof(struct sley_forked) == 32, "sley_fork");
static_assert(sizeof(struct sley_rwlock) == 24, "sley_rwlock");
static_assert(sizeof(struct sley_cpus) == 512, "sley_cpus");
static_assert(sizeof(struct sley_request) == 248, "sley_request");
static_assert(sizeof(struct sley_query) == 24, "sley_query");
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

/* What initialises must take what is not constant, and warn of nothing. */
int sley_sizes_init(int n, struct sley_chan *chan);
int sley_sizes_init(int n, struct sley_chan *chan)
{
	static struct sley_rwlock_tree tree;
	struct sley_sem sem = SLEY_SEM_INIT(n);
	struct sley_barrier barrier = SLEY_BARRIER_INIT(n);
	struct sley_once_flag once = SLEY_ONCE_INIT;
	struct sley_future future = SLEY_FUTURE_INIT;
	struct sley_rwlock lock = SLEY_RWLOCK_INIT;
	struct sley_rwlock tree_lock = SLEY_RWLOCK_TREE_INIT(&tree);
	struct sley_ticket_queue queue = SLEY_TICKET_QUEUE_INIT;
	struct sley_local key = SLEY_LOCAL_INIT(nullptr);
	const int sent = 0;
	struct sley_case cases[] = { SLEY_CASE_RECV(chan, &n),
				     SLEY_CASE_SEND(chan, &sent) };
	struct sley_stock_config config = sley_stock_config_default();

	SLEY_DEFER([](void *) {}, &n);
	sley_rwlock_read_lock(&lock);
	sley_rwlock_read_unlock(&lock);
	return sley_sem_try_acquire(&sem, 1) + (int)barrier.parties +
	       sley_once_done(&once) + sley_future_is_done(&future) +
	       (tree_lock.tree == &tree) + (queue.first == nullptr) +
	       (key.destroy == nullptr) + cases[0].status + (int)config.size;
}

/* The macros of options, each once. */
#if __cplusplus >= 202002L
extern "C" void sley_sizes_options(struct sley *rt);

extern "C" void sley_sizes_options(struct sley *rt)
{
	const struct sley_config *config = SLEY_CONFIG(.workers = 1);

	(void)sley_create(&rt, SLEY_CONFIG(.workers = 1));
	(void)sley_for_with(0, 1, nullptr, nullptr, SLEY_HOW(.grain = 1));
	(void)config;
}
#endif
