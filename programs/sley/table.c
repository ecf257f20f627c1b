/* SPDX-License-Identifier: MIT */
/*
 * table.c - see table.h.
 */
#include "table.h"

#include "flat_json.h"
#include "screen.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void table_init(struct table *table, const char *const *headings)
{
	*table = (struct table){ .nr = 0 };
	while (headings[table->nr_columns] &&
	       table->nr_columns < TABLE_COLUMNS) {
		table->heading[table->nr_columns] = headings[table->nr_columns];
		table->nr_columns++;
	}
}

void table_free(struct table *table)
{
	free(table->cell);
	table->cell = NULL;
}

void table_add(struct table *table, const char *format, ...)
{
	char(*cell)[TABLE_CELL] =
		realloc(table->cell, (table->nr + 1) * sizeof(*cell));
	va_list values;

	if (!cell) {
		perror("sley");
		exit(1);
	}
	table->cell = cell;
	va_start(values, format);
	vsnprintf(cell[table->nr], TABLE_CELL, format, values);
	va_end(values);
	table->nr++;
}

static bool is_number(const char *text)
{
	return *text && !text[strspn(text, "0123456789")];
}

/* Are all cells of the column numbers? */
static bool is_numeric(const struct table *table, size_t column)
{
	for (size_t i = column; i < table->nr; i += table->nr_columns) {
		if (!is_number(table->cell[i]))
			return false;
	}
	return table->nr > 0;
}

/* A cell, for people. */
static const char *shown(const struct table *table, size_t at,
			 char text[TABLE_CELL])
{
	memcpy(text, table->cell[at], TABLE_CELL);
	return screen_clean(text);
}

static int width_of(const struct table *table, size_t column)
{
	size_t width = strlen(table->heading[column]);

	for (size_t i = column; i < table->nr; i += table->nr_columns) {
		size_t length = strlen(table->cell[i]);

		width = length > width ? length : width;
	}
	return (int)width;
}

static void print_row(const struct table *table, const char *const *text,
		      enum screen_style style)
{
	for (size_t i = 0; i < table->nr_columns; i++) {
		int width = width_of(table, i);

		if (i)
			fputs("  ", stdout);
		if (!is_numeric(table, i))
			width = i + 1 == table->nr_columns ? 0 : -width;
		screen_field(style, text[i], width);
	}
	putchar('\n');
}

static void print_json(const struct table *table)
{
	fputs("[", stdout);
	for (size_t i = 0; i < table->nr; i++) {
		size_t column = i % table->nr_columns;
		const char *heading = table->heading[column];

		if (!column)
			fputs(i ? ",{" : "{", stdout);
		json_put(stdout, heading, strlen(heading));
		fputs(":", stdout);
		if (is_numeric(table, column))
			fputs(table->cell[i], stdout);
		else
			json_put(stdout, table->cell[i],
				 strlen(table->cell[i]));
		fputs(column + 1 == table->nr_columns ? "}" : ",", stdout);
	}
	fputs("]\n", stdout);
}

void table_print(const struct table *table, bool json)
{
	if (json) {
		print_json(table);
		return;
	}
	print_row(table, table->heading, SCREEN_HEADING);
	for (size_t i = 0; i < table->nr; i += table->nr_columns) {
		char text[TABLE_COLUMNS][TABLE_CELL];
		const char *row[TABLE_COLUMNS];

		for (size_t j = 0; j < table->nr_columns; j++)
			row[j] = shown(table, i + j, text[j]);
		print_row(table, row, SCREEN_PLAIN);
	}
}

void table_of_json(struct table *table, const char *array,
		   const char *const *keys)
{
	char text[TABLE_CELL];

	table_init(table, keys);
	for (const char *row = json_first(array); row; row = json_next(row)) {
		for (size_t i = 0; i < table->nr_columns; i++)
			table_add(table, "%s",
				  json_text(json_member(row, keys[i]), text,
					    sizeof(text)));
	}
}
