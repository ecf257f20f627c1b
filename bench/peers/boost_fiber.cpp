/* SPDX-License-Identifier: MIT */
/*
 * boost_fiber.cpp - the peer boost.fiber on one thread: the round-robin scheduler,
 * channels, mutex and condition variable.
 *
 * yield   two fibers take turns
 * chan    `ns` is unbuffered_channel, `buffered_ns` is buffered_channel at its
 *         smallest capacity, which is 2
 * mutex   uncontended
 * cond    a round trip between two fibers
 * future  a fiber fulfils a promise, and the creator waits for the value
 * event-chain  512 fibers, a mutex, a flag and a condition variable for each
 */
#include "../measure.h"

#include <boost/fiber/all.hpp>
#include <vector>

namespace fib = boost::fibers;

static void run_yield(const struct measure *m)
{
	uint64_t nr = measure_size(m, YIELD_TURNS), alternations = 0, start;
	int last = 0;
	auto body = [&](int me) {
		for (uint64_t i = 0; i < nr; i++) {
			alternations += last != me;
			last = me;
			boost::this_fiber::yield();
		}
	};

	start = measure_now();
	fib::fiber one(body, 1), two(body, 2);
	one.join();
	two.join();
	measure_report_each("ns", start, 2 * nr);
	MEASURE_CHECK(m, alternations >= 2 * nr - nr / 100);
}

template <typename channel>
static void ping_pong(const struct measure *m, const char *metric, channel &to,
		      channel &fro)
{
	uint64_t nr = measure_size(m, CHAN_TRIPS), right = 0, start;

	start = measure_now();
	fib::fiber pong([&] {
		uint64_t value = 0;

		for (uint64_t i = 0; i < nr; i++) {
			if (to.pop(value) != fib::channel_op_status::success)
				break;
			fro.push(value + 1);
		}
	});
	fib::fiber ping([&] {
		uint64_t value = 0;

		for (uint64_t i = 0; i < nr; i++) {
			to.push(i);
			if (fro.pop(value) != fib::channel_op_status::success)
				break;
			right += value == i + 1;
		}
	});
	ping.join();
	pong.join();
	measure_report_each(metric, start, nr);
	MEASURE_CHECK(m, right == nr);
}

static void run_chan(const struct measure *m)
{
	fib::unbuffered_channel<uint64_t> to, fro;
	fib::buffered_channel<uint64_t> buffered_to(2), buffered_fro(2);

	ping_pong(m, "ns", to, fro);
	ping_pong(m, "buffered_ns", buffered_to, buffered_fro);
}

static void run_mutex(const struct measure *m)
{
	uint64_t nr = measure_size(m, MUTEX_TURNS), count = 0;
	fib::mutex mutex;

	fib::fiber([&] {
		uint64_t start = measure_now();

		for (uint64_t i = 0; i < nr; i++) {
			mutex.lock();
			count++;
			mutex.unlock();
		}
		measure_report_each("ns", start, nr);
	}).join();
	MEASURE_CHECK(m, count == nr);
}

static void run_cond(const struct measure *m)
{
	uint64_t nr = measure_size(m, COND_TRIPS), trips = 0, start;
	fib::condition_variable cond;
	fib::mutex mutex;
	int turn = 0;
	auto body = [&](int me) {
		std::unique_lock<fib::mutex> lock(mutex);

		for (uint64_t i = 0; i < nr; i++) {
			while (turn != me)
				cond.wait(lock);
			turn = !me;
			trips++;
			cond.notify_one();
		}
	};

	start = measure_now();
	fib::fiber one(body, 0), two(body, 1);
	one.join();
	two.join();
	measure_report_each("ns", start, nr);
	MEASURE_CHECK(m, trips == 2 * nr);
}

static void run_future(const struct measure *m)
{
	uint64_t nr = measure_size(m, FUTURE_TURNS), sum = 0;
	uint64_t start = measure_now();

	for (uint64_t i = 0; i < nr; i++) {
		fib::promise<uint64_t> promise;
		fib::future<uint64_t> future = promise.get_future();
		fib::fiber keeper([&] { promise.set_value(i); });

		sum += future.get();
		keeper.join();
	}
	measure_report_each("ns", start, nr);
	MEASURE_CHECK(m, sum == nr * (nr - 1) / 2);
}

struct event {
	fib::mutex mutex;
	fib::condition_variable cond;
	bool is_set = false;

	void set()
	{
		std::unique_lock<fib::mutex> lock(mutex);

		is_set = true;
		cond.notify_all();
	}
	void wait()
	{
		std::unique_lock<fib::mutex> lock(mutex);

		cond.wait(lock, [&] { return is_set; });
	}
};

static void chain()
{
	std::vector<event> events(CHAIN_LINKS + 1);
	std::vector<fib::fiber> fibers;

	for (int i = CHAIN_LINKS; i-- > 0;)
		fibers.emplace_back([&events, i] {
			events[i].wait();
			events[i + 1].set();
		});
	events[0].set();
	events[CHAIN_LINKS].wait();
	for (auto &fiber : fibers)
		fiber.join();
}

static void run_event_chain(const struct measure *m)
{
	uint64_t nr = measure_size(m, CHAINS), start;

	chain();
	start = measure_now();
	for (uint64_t i = 0; i < nr; i++)
		chain();
	measure_report("us",
		       (double)(measure_now() - start) / 1e3 / (double)nr);
}

int main(int argc, char **argv)
{
	static const struct measure_row rows[] = {
		{ "yield", run_yield },   { "chan", run_chan },
		{ "mutex", run_mutex },   { "cond", run_cond },
		{ "future", run_future }, { "event-chain", run_event_chain },
	};

	return measure_main(argc, argv, rows, sizeof(rows) / sizeof(rows[0]));
}
