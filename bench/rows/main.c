/* SPDX-License-Identifier: MIT */
/*
 * main.c - the program `sley`: all our rows except the raw switch.
 */
#include "rows.h"

int main(int argc, char **argv)
{
	return measure_main(argc, argv, rows, sizeof(rows) / sizeof(rows[0]));
}
