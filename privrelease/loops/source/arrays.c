/* Arguments of a loop, checked: a wrong type, shape or length of a tuple is a TypeError and never a read outside an array. */
#include "arrays.h"

static bool refuse(const char *why) {
    PyErr_SetString(PyExc_TypeError, why);
    return false;
}

static bool is_kind(const Py_buffer *view, char wanted, bool *is_double) {
    const char *format = view->format == NULL ? "B" : view->format;
    if (*format == '@' || *format == '=' || *format == '<') format++;
    bool is_unsigned = format[0] == 'L' || format[0] == 'Q';
    bool is_signed = format[0] == 'l' || format[0] == 'q' || format[0] == 'i';
    *is_double = format[0] == 'd' && view->itemsize == 8;
    if (format[0] == '\0' || format[1] != '\0') return false;
    switch (wanted) {
    case 'u': case 'U': return is_unsigned && view->itemsize == 8;
    case 'l': case 'L': return is_signed && view->itemsize == 8;
    case 'i': return is_signed && view->itemsize == 4;
    case 'd': return *is_double;
    default: return *is_double || (is_signed && view->itemsize == 8);
    }
}

static bool take_array(PyObject *value, char wanted, bool written, Arguments *taken) {
    if (taken->n_arrays == MOST_ARGUMENTS) return refuse("too many arrays");
    Array *array = &taken->arrays[taken->n_arrays];
    int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (written ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(value, &array->view, flags) < 0) return false;
    taken->n_arrays++;
    int dimensions = wanted == 'U' || wanted == 'L' ? 2 : 1;
    if (array->view.ndim != dimensions) return refuse("an array has another number of dimensions");
    if (!is_kind(&array->view, wanted, &array->is_double)) return refuse("an array has another type of elements");
    array->data = array->view.buf;
    array->rows = array->view.shape[0];
    array->columns = dimensions == 2 ? array->view.shape[1] : 1;
    return true;
}

static bool take_number(PyObject *value, Arguments *taken) {
    if (taken->n_numbers == MOST_ARGUMENTS) return refuse("too many numbers");
    int64_t number = PyLong_AsLongLong(value);
    if (number == -1 && PyErr_Occurred()) return false;
    taken->numbers[taken->n_numbers++] = number;
    return true;
}

static bool take_tuple(PyObject *tuple, const char **format, Arguments *taken) {
    if (!PyTuple_Check(tuple)) return refuse("an argument is no tuple");
    Py_ssize_t size = PyTuple_Size(tuple);
    for (Py_ssize_t place = 0; place < size; place++) {
        char wanted = **format;
        if (wanted == '\0' || wanted == ')') return refuse("too many arguments");
        PyObject *value = PyTuple_GetItem(tuple, place);
        ++*format;
        if (wanted == '(') {
            if (!take_tuple(value, format, taken)) return false;
            ++*format; /* the closing parenthesis */
        } else if (wanted == 'n') {
            if (!take_number(value, taken)) return false;
        } else {
            bool written = **format == '!';
            if (written) ++*format;
            if (!take_array(value, wanted, written, taken)) return false;
        }
    }
    return **format == ')' || **format == '\0' ? true : refuse("an argument is missing");
}

void release_arguments(Arguments *taken) {
    for (int place = 0; place < taken->n_arrays; place++) PyBuffer_Release(&taken->arrays[place].view);
    taken->n_arrays = 0;
}

bool take_arguments(PyObject *arguments, const char *format, Arguments *taken) {
    taken->n_arrays = taken->n_numbers = 0;
    const char *rest = format;
    if (take_tuple(arguments, &rest, taken)) return true;
    release_arguments(taken);
    return false;
}
