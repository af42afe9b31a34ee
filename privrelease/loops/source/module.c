/* The extension module: its loops, the number of their interface and the digest of their sources. */
#include "arrays.h"

#ifndef SOURCE_DIGEST
#define SOURCE_DIGEST ""
#endif

static PyMethodDef loops[] = {
    {"count_distinct", count_distinct, METH_VARARGS, NULL},
    {"release_layer", release_layer, METH_VARARGS, NULL},
    {"complete_groups", complete_groups, METH_VARARGS, NULL},
    {"find_alternatives", find_alternatives, METH_VARARGS, NULL},
    {"close_classes", close_classes, METH_VARARGS, NULL},
    {"restore_cells", restore_cells, METH_VARARGS, NULL},
    {"regroup_cells", regroup_cells, METH_VARARGS, NULL},
    {"join_tries", join_tries, METH_VARARGS, NULL},
    {"place_rows", place_rows, METH_VARARGS, NULL},
    {"nearest_records", nearest_records, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static int filled(PyObject *module) {
    /* Raised with every change of what a loop takes or means: see INTERFACE in privrelease/loops/__init__.py. */
    if (PyModule_AddIntConstant(module, "INTERFACE", 6) < 0) return -1;
    return PyModule_AddStringConstant(module, "SOURCES", SOURCE_DIGEST);
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, filled}, {0, NULL}};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "compiled", NULL, 0, loops, slots, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_compiled(void) { return PyModuleDef_Init(&definition); }
