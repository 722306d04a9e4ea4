/* Loops that add up numbers, or what is computed of each, in the type of the sums: float32 in float64, and integers in 64 bits. */
#ifndef DTL_SUMS_H
#define DTL_SUMS_H

#include "interpreter.h"
#include "loops.h"

#pragma GCC visibility push(hidden)

/* What is added up: elements; those that are not NaN; 1 for each of those; the square of each element's distance from a mean; the distance;
 * and of those that are not NaN. Python's folded_lines.py has the same numbers. */
enum { OF_ELEMENTS, OF_NUMBERS, OF_COUNTS, OF_SQUARES, OF_DISTANCES, OF_SQUARES_OF_NUMBERS, OF_DISTANCES_OF_NUMBERS, SUMS };

/* Adds rows of so many elements, which lie one behind the other, to sums: one row after the other, so the bits are those of a loop that adds
 * one at a time. There is a mean for each column. */
typedef void (*rows_adder)(char *sums, const char *from, ptrdiff_t rows, ptrdiff_t columns, const double *means);

/* Adds elements that lie side by side to one sum. */
typedef void (*line_adder)(char *sum, const char *from, ptrdiff_t count, const double *mean);

/* adder_of_rows returns the loop for elements and sums of NumPy's types; NULL if there is none. */
rows_adder adder_of_rows(int of, int from, int to);

/* adder_of_line does so. NumPy's own loop adds up elements that have the type of the sum. */
line_adder adder_of_line(int of, int from, int to);

/* means_of takes the means of so many columns or rows, if what is added up needs them, and says whether they are such. */
int means_of(int of, PyObject *means, ptrdiff_t count, const double **found);

#pragma GCC visibility pop

#endif
