/* SPDX-License-Identifier: MIT */
/*
 * bank.c - row `bank`: a teller orders transfers between 1,000 accounts.
 *
 * The paying account calls the receiving account and waits for the answer before
 * the next message.  Money goes from an account to an account of a higher number
 * only, so there is no deadlock.  Accounts are actors, because accounts wait.
 */
#include "actors.h"

#include "../problems/minstd.h"

#define START 1000000 /* on each account */

enum { MOVE, MOVED, CREDIT, CLOSE };

struct transfer {
	sley_pid to;
	uint64_t amount;
};

static int account(void *arg)
{
	const struct transfer *t;
	uint64_t balance = START;
	struct sley_msg *msg;

	(void)arg;
	while (sley_receive(&msg) == 0) {
		switch (msg->tag) {
		case MOVE:
			t = msg->data;
			if (sley_call(t->to, CREDIT, &t->amount,
				      sizeof(t->amount), NULL) != 0)
				return -EIO;
			balance -= t->amount;
			sley_send(msg->from, MOVED, NULL, 0);
			break;
		case CREDIT:
			balance += actors_word(msg);
			sley_reply(msg, CREDIT, NULL, 0);
			break;
		case CLOSE:
			sley_reply(msg, CLOSE, &balance, sizeof(balance));
			return 0;
		}
	}
	return -EIO;
}

struct bank {
	const struct measure *m;
	struct answer answer;
	uint64_t transfers;
	sley_pid accounts[BANK_ACCOUNTS];
};

static void order(struct bank *bank)
{
	uint64_t a, b = 1, from;
	struct transfer t;

	for (uint64_t i = 0; i < bank->transfers; i++) {
		a = minstd(b);
		b = minstd(a);
		from = a % (BANK_ACCOUNTS - 1);
		t.to = bank->accounts[from + 1 + b % (BANK_ACCOUNTS - 1 - from)];
		t.amount = 1 + b % 100;
		sley_send(bank->accounts[from], MOVE, &t, sizeof(t));
	}
}

static uint64_t close_all(struct bank *bank)
{
	struct sley_msg *reply;
	uint64_t sum = 0;

	for (int i = 0; i < BANK_ACCOUNTS; i++) {
		MEASURE_CHECK(bank->m, sley_call(bank->accounts[i], CLOSE, NULL,
						 0, &reply) == 0);
		sum += actors_word(reply);
		sley_msg_free(reply);
	}
	return sum;
}

static int teller(void *arg)
{
	struct bank *bank = arg;
	struct sley_msg *msg;

	order(bank);
	for (uint64_t i = 0; i < bank->transfers; i++)
		MEASURE_CHECK(bank->m,
			      sley_receive(&msg) == 0 && msg->tag == MOVED);
	answer_give(&bank->answer, close_all(bank));
	return 0;
}

static void transfers(const struct measure *m, uint64_t nr)
{
	struct bank bank = { .m = m, .answer = ANSWER_INIT, .transfers = nr };

	for (int i = 0; i < BANK_ACCOUNTS; i++)
		bank.accounts[i] = actors_spawn_fiber(m, account, NULL);
	actors_spawn_fiber(m, teller, &bank);
	MEASURE_CHECK(m, answer_take(&bank.answer) ==
				 (uint64_t)BANK_ACCOUNTS * START);
}

void row_bank(const struct measure *m)
{
	actors_run(m, transfers, "ns", BANK_TRANSFERS, 1);
}
