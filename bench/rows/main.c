/* SPDX-License-Identifier: MIT */
/*
 * main.c - the program `sley`: all our rows but the raw switch.
 */
#include "rows.h"

int main(int argc, char **argv)
{
	static const struct measure_row rows[] = {
		{ "yield", row_yield },     { "create", row_create },
		{ "spawn", row_spawn },     { "chan", row_chan },
		{ "fanin", row_fanin },     { "chan-cross", row_chan_cross },
		{ "mutex", row_mutex },     { "cond", row_cond },
		{ "blocked", row_blocked }, { "wake", row_wake },
		{ "idle", row_idle },
	};

	return measure_main(argc, argv, rows, sizeof(rows) / sizeof(rows[0]));
}
