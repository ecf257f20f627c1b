/* SPDX-License-Identifier: MIT */
/*
 * hazard_exceptions.cpp - the C++ half of hazard_exceptions.c: tasks that wait
 * while they throw, catch and rethrow.
 */
#include <atomic>
#include <exception>
#include <sley/blocking.h>
#include <sley/task.h>
#include <sley/time.h>
#include <stdexcept>
#include <string>

extern "C" {
std::atomic<int> nr_right, nr_destroyed;

sley_fn rethrow_after_waits, throw_through_waits, throw_in_region, throw_out;
sley_fn use_thread_local, forget_exception;
}

namespace
{

void wait_a_little(int i)
{
	if (i % 3)
		sley_yield();
	else
		(void)sley_sleep(10 * SLEY_USEC);
}

/* Out of line: the count is in a thread-local, and the task may have moved. */
__attribute__((noinline)) int nr_uncaught()
{
	return std::uncaught_exceptions();
}

struct waits_when_left {
	int *uncaught;

	~waits_when_left()
	{
		for (int i = 0; i < 5; i++)
			wait_a_little(i);
		*uncaught = nr_uncaught();
	}
};

bool rethrows(const std::string &expected, int depth)
{
	try {
		throw std::runtime_error(expected);
	} catch (const std::runtime_error &) {
		wait_a_little(depth);
		/* Another one is handled inside of this, and left again. */
		if (depth && !rethrows(expected + "!", depth - 1))
			return false;
		wait_a_little(depth + 1);
		try {
			throw;
		} catch (const std::runtime_error &again) {
			wait_a_little(depth + 2);
			return again.what() == expected;
		}
	}
	return false;
}

} // namespace

void rethrow_after_waits(void *arg)
{
	std::string expected = std::to_string(reinterpret_cast<intptr_t>(arg));

	for (int i = 0; i < 5; i++)
		if (!rethrows(expected, 3) || std::current_exception())
			return;
	nr_right++;
}

void throw_through_waits(void *arg)
{
	for (int i = 0; i < 5; i++) {
		int uncaught = -1;

		try {
			waits_when_left guard{ &uncaught };

			throw arg;
		} catch (void *caught) {
			wait_a_little(i);
			if (caught != arg || uncaught != 1 || nr_uncaught())
				return;
		}
	}
	nr_right++;
}

void throw_in_region(void *arg)
{
	bool right = false;

	(void)sley_blocking_begin();
	try {
		throw arg;
	} catch (void *caught) {
		/* Back on the worker in the middle of handling it. */
		sley_blocking_end();
		sley_yield();
		try {
			throw;
		} catch (void *again) {
			right = caught == arg && again == arg;
		}
	}
	if (right)
		nr_right++;
}

void forget_exception(void *arg)
{
	if (std::current_exception() || nr_uncaught())
		return;
	try {
		throw arg;
	} catch (...) {
		sley_yield();
		if (!std::current_exception())
			return;
	}
	if (!std::current_exception())
		nr_right++;
}

void throw_out(void *)
{
	sley_yield();
	throw std::runtime_error("too far");
}

namespace
{

struct counted {
	bool used = false;

	~counted()
	{
		if (used)
			nr_destroyed++;
	}
};

thread_local counted of_this_thread;

__attribute__((noinline)) counted &here()
{
	return of_this_thread;
}

} // namespace

void use_thread_local(void *)
{
	sley_yield();
	if (!here().used)
		nr_right++;
	here().used = true;
	sley_yield();
}
