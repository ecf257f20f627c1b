/* SPDX-License-Identifier: MIT */
/*
 * table.h - rows of cells, in columns that are as wide as their longest cell.
 *
 * Columns of numbers are aligned to the right.  A table for programs is an array of JSON
 * objects, with the headings as the names of the members.
 */
#ifndef SLEY_PROGRAM_TABLE_H
#define SLEY_PROGRAM_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#define TABLE_COLUMNS 16
#define TABLE_CELL 128 /* bytes; longer cells are cut */

struct table {
	const char *heading[TABLE_COLUMNS];
	size_t nr_columns;
	size_t nr; /* of cells */
	char (*cell)[TABLE_CELL];
};

/* @headings ends with NULL. */
void table_init(struct table *table, const char *const *headings);
void table_free(struct table *table);

/* The next cell; rows follow each other.  It is printed by screen_clean(), or as JSON. */
void table_add(struct table *table, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Prints the table, or as JSON. */
void table_print(const struct table *table, bool json);

/* A table of the objects of a JSON array: @keys are members and headings. */
void table_of_json(struct table *table, const char *array,
		   const char *const *keys);

#endif
