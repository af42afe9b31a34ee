/* The join of two sets of nodes of a prefix tree under "missing matches anything"; see privrelease/disclosure/classes/tries.py. */
#include "classes.h"

#define FEW 8 /* with at most this many nodes on one side, pairs are compared directly */

typedef struct {
    const int64_t *offset;
    const int32_t *parent, *label;
} Trie;

/* One side of a join: the labels of its nodes, and the places without a value, with one, and with one by label. */
typedef struct {
    int32_t *labels, *missing, *known, *sorted;
    int64_t n_missing, n_known;
} Side;

static Side side_of(const int32_t *nodes, int64_t count, const int32_t *label, int32_t *room) {
    Side side = {room, room + count, NULL, room + 2 * count, 0, 0};
    for (int64_t at = 0; at < count; at++) {
        side.labels[at] = label[nodes[at]];
        side.n_missing += side.labels[at] == 0;
    }
    side.known = side.missing + side.n_missing;
    int64_t missing = 0;
    for (int64_t at = 0; at < count; at++) {
        if (side.labels[at] == 0) side.missing[missing++] = (int32_t)at;
        else side.known[side.n_known++] = (int32_t)at;
    }
    return side;
}

/* Sort stably by label, for labels up to `largest`; `start` has room for that many and two. */
static void counting_sort(Side *side, int32_t largest, int32_t *start) {
    memset(start, 0, ((size_t)largest + 2) * 4);
    for (int64_t at = 0; at < side->n_known; at++) start[side->labels[side->known[at]] + 1]++;
    for (int32_t value = 1; value < largest + 2; value++) start[value] += start[value - 1];
    for (int64_t at = 0; at < side->n_known; at++) side->sorted[start[side->labels[side->known[at]]]++] = side->known[at];
}

/* Sort stably by label, for few of many labels. */
static void merge_sort(Side *side, int32_t *scratch) {
    int64_t n = side->n_known;
    int32_t *source = side->sorted, *target = scratch;
    memcpy(source, side->known, (size_t)n * 4);
    for (int64_t width = 1; width < n; width *= 2) {
        for (int64_t low = 0; low < n; low += 2 * width) {
            int64_t middle = least_of(low + width, n), high = least_of(low + 2 * width, n), i = low, k = middle;
            for (int64_t at = low; at < high; at++) {
                bool first = i < middle && (k >= high || side->labels[source[i]] <= side->labels[source[k]]);
                target[at] = first ? source[i++] : source[k++];
            }
        }
        int32_t *swapped = source;
        source = target;
        target = swapped;
    }
    if (source != side->sorted) memcpy(side->sorted, source, (size_t)n * 4);
}

/* Sort the places with a value by label; `scratch` has room for four times the places and 66. */
static void sort_known(Side *side, int32_t *scratch) {
    int32_t largest = 0;
    for (int64_t at = 0; at < side->n_known; at++) {
        if (side->labels[side->known[at]] > largest) largest = side->labels[side->known[at]];
    }
    if (largest > 4 * side->n_known + 64) merge_sort(side, scratch);
    else counting_sort(side, largest, scratch);
}

/* Return the end of the run of equal labels that begins at `begin`. */
static int64_t run_end(const Side *side, int64_t begin) {
    int64_t end = begin + 1;
    while (end < side->n_known && side->labels[side->sorted[end]] == side->labels[side->sorted[begin]]) end++;
    return end;
}

/* Drop the last column of the chosen nodes (all of them where `chosen` is NULL): ascending distinct parents, and which of them each chosen
 * node became. Return how many there are. */
static int64_t shorter(const int32_t *nodes, const int32_t *chosen, int64_t count, const int32_t *parent, int32_t *merged, int32_t *where) {
    int64_t n = 0;
    for (int64_t at = 0; at < count; at++) {
        int32_t up = parent[nodes[chosen == NULL ? at : chosen[at]]];
        if (n == 0 || merged[n - 1] != up) merged[n++] = up;
        where[at] = (int32_t)(n - 1);
    }
    return n;
}

#define VALUE int64_t
#define JOIN join_counts
#define PAIRS pairs_of_counts
#include "tries_join.h"
#undef VALUE
#undef JOIN
#undef PAIRS
#define VALUE double
#define JOIN join_floats
#define PAIRS pairs_of_floats
#include "tries_join.h"

LOOP(join_tries) {
    (void)module;
    Arguments taken;
    if (!take_arguments(arguments, "niivlii" "v!", &taken)) return NULL;
    const Array *at = taken.arrays;
    if (at[2].is_double != at[6].is_double || at[6].rows != at[0].rows || at[2].rows != at[1].rows) {
        release_arguments(&taken);
        PyErr_SetString(PyExc_TypeError, "values and totals are of one type, one for each node");
        return NULL;
    }
    Trie trie = {at[3].data, at[4].data, at[5].data};
    int64_t depth = taken.numbers[0];
    bool done;
    Py_BEGIN_ALLOW_THREADS
    if (at[2].is_double) {
        done = join_floats(depth, at[0].data, at[0].rows, at[1].data, at[1].rows, at[2].data, at[6].data, &trie);
    } else {
        done = join_counts(depth, at[0].data, at[0].rows, at[1].data, at[1].rows, at[2].data, at[6].data, &trie);
    }
    Py_END_ALLOW_THREADS
    release_arguments(&taken);
    if (!done) return PyErr_NoMemory();
    Py_RETURN_NONE;
}
