/* SPDX-License-Identifier: MIT */
/*
 * 19_cancel.c - a scope: its tasks succeed, fail and end together.
 *
 * Each search asks two servers, in a scope of its own.  A broken server makes one
 * search fail, and this failure cancels the scope of all searches.  The answers
 * that would take an hour are not waited for.
 *
 *   cc 19_cancel.c $(pkg-config --cflags --libs sley)
 */
#include <errno.h>
#include <sley/sley.h>
#include <stdio.h>

#define NR 4

static int ask_broken(void *arg)
{
	return *(int *)arg == 2 ? -EIO : 0;
}

static int ask_slow(void *arg)
{
	(void)arg;
	return sley_sleep(3600 * SLEY_SEC); /* until cancelled */
}

static int search(void *arg)
{
	struct sley_task task[2];
	struct sley_scope scope;
	int err;

	sley_scope_open(&scope);
	sley_scope_spawn(&scope, &task[0], ask_broken, arg);
	sley_scope_spawn(&scope, &task[1], ask_slow, arg);
	err = sley_scope_close(&scope); /* waits for both */
	printf("search %d: error %d\n", *(int *)arg, err);
	return err;
}

int main(void)
{
	int number[NR] = { 0, 1, 2, 3 };
	struct sley_task task[NR];
	struct sley_scope scope;
	struct sley *rt;
	int err;

	if (sley_create(&rt, NULL) || sley_bind(rt))
		return 1;
	sley_scope_open_until(&scope, sley_after(60 * SLEY_SEC));
	for (int i = 0; i < NR; i++)
		sley_scope_spawn(&scope, &task[i], search, &number[i]);
	err = sley_scope_close(&scope);
	sley_unbind(rt);
	return sley_destroy(rt) != 0 || err != -EIO;
}
