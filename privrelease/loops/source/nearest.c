/* The records nearest to a target: what each released value costs it is given, and a record is left as soon as it is farther than the nearest. */
#include "arrays.h"

/* `place`: of each record, column by column, where the cost of its value stands in a row of `cost`. */
typedef struct {
    const int64_t *cost;
    const int32_t *place;
    int64_t targets, width, records, columns;
} Search;

/* The distance, or anything above `bound` where it is above it. */
static inline int64_t distance(const int64_t *cost, const int32_t *place, int64_t columns, int64_t bound) {
    int64_t total = 0;
    for (int64_t column = 0; column < columns && total <= bound; column++) total += cost[place[column]];
    return total;
}

/* Records of one target after another that are at its least distance. */
typedef struct {
    int64_t *record, used, room;
} Tied;

static bool add_tied(Tied *tied, int64_t record) {
    if (tied->used == tied->room) {
        int64_t room = 2 * tied->room + 64;
        int64_t *larger = realloc(tied->record, 8 * (size_t)room);
        if (larger == NULL) return false;
        tied->record = larger;
        tied->room = room;
    }
    tied->record[tied->used++] = record;
    return true;
}

static bool find_nearest(const Search *search, int64_t *least, int64_t *ties, Tied *tied) {
    for (int64_t target = 0; target < search->targets; target++) {
        const int64_t *cost = search->cost + target * search->width;
        int64_t best = INT64_MAX, first = tied->used;
        for (int64_t record = 0; record < search->records; record++) {
            int64_t found = distance(cost, search->place + record * search->columns, search->columns, best);
            if (found > best) continue;
            if (found < best) tied->used = first;
            best = found;
            if (!add_tied(tied, record)) return false;
        }
        least[target] = best;
        ties[target] = tied->used - first;
    }
    return true;
}

LOOP(nearest_records) {
    (void)module;
    Arguments taken;
    if (!take_arguments(arguments, "Linl!l!", &taken)) return NULL;
    const Array *at = taken.arrays;
    int64_t columns = taken.numbers[0];
    bool sound = columns > 0 && at[1].rows % columns == 0 && at[2].rows == at[0].rows && at[3].rows == at[0].rows;
    Search search = {at[0].data, at[1].data, at[0].rows, at[0].columns, sound ? at[1].rows / columns : 0, columns};
    for (int64_t cell = 0; sound && cell < at[1].rows; cell++) sound = search.place[cell] >= 0 && search.place[cell] < search.width;
    if (!sound) {
        release_arguments(&taken);
        PyErr_SetString(PyExc_TypeError, "an array has another shape");
        return NULL;
    }
    Tied tied = {NULL, 0, 0};
    bool done;
    Py_BEGIN_ALLOW_THREADS
    done = find_nearest(&search, at[2].data, at[3].data, &tied);
    Py_END_ALLOW_THREADS
    release_arguments(&taken);
    PyObject *records = done ? PyBytes_FromStringAndSize((const char *)tied.record, 8 * (Py_ssize_t)tied.used) : PyErr_NoMemory();
    free(tied.record);
    return records;
}
