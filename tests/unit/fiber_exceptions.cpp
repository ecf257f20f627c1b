/* SPDX-License-Identifier: MIT */
/*
 * fiber_exceptions.cpp - the C++ half of fiber_exceptions.c: bodies of fibers
 * that suspend themselves while they handle or throw an exception.
 */
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

extern "C" {
/* In fiber_exceptions.c. */
void suspend_me(void *self);

bool rethrow_after_suspension(void *self, int id);
bool suspend_while_throwing(void *self, int id);
void throw_out_of_entry(void);
int nr_uncaught(void);
}

namespace
{

struct suspender {
	void *self;
	int *uncaught;

	~suspender()
	{
		suspend_me(self);
		*uncaught = std::uncaught_exceptions();
		suspend_me(self);
	}
};

} // namespace

bool rethrow_after_suspension(void *self, int id)
{
	std::string expected = "number " + std::to_string(id);

	try {
		throw std::runtime_error(expected);
	} catch (const std::runtime_error &) {
		suspend_me(self);
		try {
			throw; /* whatever this fiber has caught last */
		} catch (const std::runtime_error &again) {
			suspend_me(self);
			if (again.what() != expected)
				return false;
		}
		suspend_me(self);
		try {
			std::rethrow_exception(std::current_exception());
		} catch (const std::runtime_error &again) {
			if (again.what() != expected)
				return false;
		}
	}
	return !std::current_exception();
}

bool suspend_while_throwing(void *self, int id)
{
	int uncaught = -1;

	try {
		suspender guard{ self, &uncaught };

		throw id;
	} catch (int caught) {
		return caught == id && uncaught == 1 &&
		       std::uncaught_exceptions() == 0;
	}
	return false;
}

void throw_out_of_entry(void)
{
	throw std::runtime_error("nobody catches this");
}

int nr_uncaught(void)
{
	return std::uncaught_exceptions();
}
