/* Arguments of a loop: contiguous arrays taken by the buffer protocol, and whole numbers. */
#ifndef PRIVRELEASE_ARRAYS_H
#define PRIVRELEASE_ARRAYS_H

#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030B0000 /* one wheel serves every Python from 3.11 on */
#endif
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ARGUMENTS 48

typedef struct {
    Py_buffer view;
    void *data;
    int64_t rows;    /* length of an array of one dimension */
    int64_t columns; /* 1 where there is one dimension */
    bool is_double;
} Array;

typedef struct {
    Array arrays[MOST_ARGUMENTS];
    int64_t numbers[MOST_ARGUMENTS];
    int n_arrays, n_numbers;
} Arguments;

/* Take the arguments that `format` names, tuples flattened: u uint64, l int64, i int32, d float64, v int64 or float64 (one dimension),
 * U uint64, L int64 (two dimensions), n a number; `!` after an array that is written; `(` and `)` around a tuple.
 * Returns false with an exception set, nothing held; else the caller ends with release_arguments. */
bool take_arguments(PyObject *arguments, const char *format, Arguments *taken);
void release_arguments(Arguments *taken);

#define LOOP(name) PyObject *name(PyObject *module, PyObject *arguments)

LOOP(count_distinct);
LOOP(release_layer);
LOOP(complete_groups);
LOOP(find_alternatives);
LOOP(close_classes);
LOOP(restore_cells);
LOOP(regroup_cells);
LOOP(join_tries);
LOOP(place_rows);
LOOP(nearest_records);

#endif
