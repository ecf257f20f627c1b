/* SPDX-License-Identifier: MIT */
/*
 * 24_supervisor.c - an actor that fails, and is restarted.
 *
 * Asked to divide by zero, the actor ends with an error, and so does the call.  The
 * supervisor starts a new actor with the same name, and the new actor answers the
 * next call.  Meanwhile the caller waits for the name, but not for ever: a
 * supervisor may give up.
 *
 *   cc 24_supervisor.c $(pkg-config --cflags --libs sley)
 */
#include <errno.h>
#include <sley/sley.h>
#include <stdio.h>

static int divide(void *arg)
{
	struct sley_msg *msg;

	(void)arg;
	while (sley_receive(&msg) == 0) {
		int answer, by = *(const int *)msg->data;

		if (!by)
			return -EDOM;
		answer = 100 / by;
		sley_reply(msg, 0, &answer, sizeof(answer));
	}
	return 0;
}

static const struct sley_child children[] = {
	{ "divider", divide, .restart = SLEY_PERMANENT },
};

int main(void)
{
	static const int number[] = { 5, 0, 4 };
	sley_pid supervisor, divider;
	struct sley *rt;
	int got[3];

	if (sley_create(&rt, NULL) || sley_bind(rt))
		return 1;
	if (sley_supervise(&supervisor, SLEY_SUPERVISOR_OPTIONS(.intensity = 5),
			   children, 1))
		return 1;
	for (int i = 0; i < 3; i++) {
		if (sley_name_find_until("divider", &divider,
					 sley_after(10 * SLEY_SEC)))
			return 1;
		got[i] = sley_call(divider, 0, &number[i], sizeof(int), NULL);
		printf("100 / %d: %s\n", number[i], sley_strerror(got[i]));
	}
	sley_unbind(rt);
	return sley_destroy(rt) != 0 || got[0] || got[1] != -EDOM || got[2];
}
