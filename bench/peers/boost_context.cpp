/* SPDX-License-Identifier: MIT */
/*
 * boost_context.cpp - the peer boost.context: bare stacks, no scheduler.
 *
 * switch   `ns` is jump_fcontext(), the assembly below the documented class;
 *          `api_ns` is the same with boost::context::fiber::resume()
 * create   boost::context::fiber on a pooled_fixedsize_stack
 * blocked  fibers on stacks cut from one mapping, without guards
 */
#include "../measure.h"

#include <boost/context/detail/fcontext.hpp>
#include <boost/context/fiber.hpp>
#include <boost/context/pooled_fixedsize_stack.hpp>
#include <sys/mman.h>
#include <vector>

namespace ctx = boost::context;

static void raw_partner(ctx::detail::transfer_t from)
{
	uint64_t *turns = static_cast<uint64_t *>(from.data);

	for (;;) {
		++*turns;
		from = ctx::detail::jump_fcontext(from.fctx, nullptr);
	}
}

static void raw_switch(const struct measure *m)
{
	static char stack[64 * 1024];
	uint64_t nr = measure_size(m, SWITCH_TURNS), turns = 0, start;
	ctx::detail::transfer_t partner;

	partner.fctx = ctx::detail::make_fcontext(stack + sizeof(stack),
						  sizeof(stack), raw_partner);
	partner = ctx::detail::jump_fcontext(partner.fctx, &turns);
	start = measure_now();
	for (uint64_t i = 0; i < nr; i++)
		partner = ctx::detail::jump_fcontext(partner.fctx, nullptr);
	measure_report_each("ns", start, 2 * nr);
	MEASURE_CHECK(m, turns == nr + 1);
}

static void api_switch(const struct measure *m)
{
	uint64_t nr = measure_size(m, SWITCH_TURNS), turns = 0, start;
	bool stop = false;
	ctx::fiber partner([&](ctx::fiber &&back) {
		while (!stop) {
			turns++;
			back = std::move(back).resume();
		}
		return std::move(back);
	});

	partner = std::move(partner).resume();
	start = measure_now();
	for (uint64_t i = 0; i < nr; i++)
		partner = std::move(partner).resume();
	measure_report_each("api_ns", start, 2 * nr);
	MEASURE_CHECK(m, turns == nr + 1);
	stop = true;
	partner = std::move(partner).resume();
}

static void run_switch(const struct measure *m)
{
	raw_switch(m);
	api_switch(m);
}

static void run_create(const struct measure *m)
{
	uint64_t batches = measure_size(m, CREATE_BATCHES);
	uint64_t started = 0, ended = 0, start;
	ctx::pooled_fixedsize_stack pool(64 * 1024);
	ctx::fiber fibers[CREATE_BATCH];
	auto body = [&](ctx::fiber &&back) {
		started++;
		back = std::move(back).resume();
		ended++;
		return std::move(back);
	};

	start = measure_now();
	for (uint64_t i = 0; i < batches; i++) {
		for (ctx::fiber &f : fibers)
			f = ctx::fiber(std::allocator_arg, pool, body).resume();
		for (ctx::fiber &f : fibers)
			f = std::move(f).resume();
	}
	measure_report_each("ns", start, batches * CREATE_BATCH);
	MEASURE_CHECK(m, started == batches * CREATE_BATCH);
	MEASURE_CHECK(m, ended == started);
}

/* Hands out stacks from one mapping, each once. */
struct mapped_stacks {
	static char *next;

	ctx::stack_context allocate()
	{
		ctx::stack_context stack;

		next += BLOCKED_STACK_KIB * 1024;
		stack.size = BLOCKED_STACK_KIB * 1024;
		stack.sp = next;
		return stack;
	}
	void deallocate(ctx::stack_context &) noexcept
	{
	}
};

char *mapped_stacks::next;

static void run_blocked(const struct measure *m)
{
	size_t nr = m->quick ? BLOCKED_QUICK : BLOCKED_FIBERS;
	size_t bytes = nr * BLOCKED_STACK_KIB * 1024;
	uint64_t started = 0, ended = 0, start, rss = measure_rss();
	std::vector<ctx::fiber> fibers;
	auto body = [&](ctx::fiber &&back) {
		started++;
		back = std::move(back).resume();
		ended++;
		return std::move(back);
	};

	start = measure_now();
	void *map = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	MEASURE_CHECK(m, map != MAP_FAILED);
	mapped_stacks::next = static_cast<char *>(map);
	fibers.reserve(nr);
	for (size_t i = 0; i < nr; i++)
		fibers.push_back(
			ctx::fiber(std::allocator_arg, mapped_stacks(), body)
				.resume());
	measure_report_each("ns", start, nr);
	measure_report("bytes", (double)(measure_rss() - rss) / (double)nr);
	MEASURE_CHECK(m, started == nr);
	for (ctx::fiber &f : fibers)
		f = std::move(f).resume();
	MEASURE_CHECK(m, ended == nr);
}

int main(int argc, char **argv)
{
	static const struct measure_row rows[] = {
		{ "switch", run_switch },
		{ "create", run_create },
		{ "blocked", run_blocked },
	};

	return measure_main(argc, argv, rows, sizeof(rows) / sizeof(rows[0]));
}
