// SPDX-License-Identifier: MIT
//
// outside.cpp - outside.c again, as somebody who writes C++ would have it.

#include <cstdio>
#include <cstring>

#include <sley/sley.h>

// A name the library has inside, too: they must not collide.
extern "C" int os_now(void);

extern "C" int os_now(void)
{
	return 7;
}

static int waits(void *)
{
	sley_msg *msg;

	while (sley_receive(&msg) == 0)
		;
	return 0;
}

// It ends when the runtime does.
static int supervise()
{
	sley_supervisor_options often = sley_supervisor_options_default();
	sley_child child = {};

	often.intensity = 5;
	child.fn = waits;
	return sley_supervise(nullptr, &often, &child, 1);
}

static int handle()
{
	sley_handler_options slow = sley_handler_options_default();

	slow.timeout_ns = SLEY_SEC;
	return sley_command_handle(
		1, [](const sley_command *, void *) { return -1; }, nullptr,
		&slow);
}

static void root(void *arg)
{
	sley_group group = SLEY_GROUP_INIT;
	sley_task task[2];
	sley_options urgent = sley_options_default();

	urgent.priority = SLEY_PRIORITY_MIN;
	auto count = [](void *nr) {
		__atomic_add_fetch(static_cast<int *>(nr), 1, __ATOMIC_RELAXED);
	};
	sley_spawn(&group, &task[0], count, arg);
	if (sley_spawn_with(&group, &task[1], count, arg, &urgent) != 0)
		std::puts("sley_spawn_with");
	sley_join(&group);
	if (supervise() != 0 || handle() != 0)
		*static_cast<int *>(arg) = -1;
}

int main()
{
	sley_config config = sley_config_default();
	int nr = -1;

	config.workers = 2;
	if (int err = sley_run(&config, root, &nr); err != 0) {
		std::fprintf(stderr, "sley_run: %s\n", sley_strerror(err));
		return 1;
	}
	std::printf("%s %d %d\n", sley_version(), nr, os_now());
	return nr != 1 || std::strcmp(sley_version(), SLEY_VERSION) != 0;
}
