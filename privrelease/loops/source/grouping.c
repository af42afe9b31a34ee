/* Greedy's counts: how many waiting records a set of columns would release, and their release. */
#include "classes.h"

LOOP(count_distinct) {
    (void)module;
    Arguments taken;
    if (!take_arguments(arguments, "UUu!", &taken)) return NULL;
    const Array *at = taken.arrays;
    int64_t rows = at[0].columns, size = at[2].rows, distinct = 0;
    Sets sets = {at[1].data, NULL, NULL, NULL, at[1].columns, 0, 0};
    uint64_t *table = at[2].data, *masked = malloc(8 * (size_t)(rows + 1));
    bool failed = masked == NULL;
    if (!failed) {
        Py_BEGIN_ALLOW_THREADS
        int shift = 64 - log2_of(size);
        memset(table, 0, 8 * (size_t)size);
        mask_keys(at[0].data, at[0].rows, rows, 0, rows, &sets, 0, masked);
        for (int64_t row = 0; row < rows; row++) {
            int64_t slot = probe(table, masked[row], shift);
            if (table[slot] != masked[row]) {
                table[slot] = masked[row];
                distinct++;
            }
        }
        Py_END_ALLOW_THREADS
    }
    free(masked);
    release_arguments(&taken);
    return failed ? PyErr_NoMemory() : PyLong_FromLongLong(distinct);
}

static int64_t reached_of(const Waiting *waiting, int64_t count, int64_t chosen, int64_t need, const Sets *sets) {
    int bits = bits_for(count);
    if (bits > waiting->table_bits) bits = waiting->table_bits; /* the table may be fuller than half */
    int shift = 64 - bits;
    uint64_t *table = waiting->table;
    memset(table, 0, 8 * ((size_t)1 << bits));
    mask_keys(waiting->key, waiting->words, waiting->room, 0, count, sets, chosen, waiting->masked);
    for (int64_t row = 0; row < count; row++) {
        uint64_t key = waiting->masked[row];
        if (key == 0) {
            waiting->slot[row] = -1;
            continue;
        }
        int64_t slot = probe(table, key, shift);
        if (table[slot] == 0) {
            table[slot] = key;
            waiting->totals[slot] = 0;
        }
        waiting->totals[slot] += waiting->records[row];
        waiting->slot[row] = (int32_t)slot;
    }
    int64_t reached = 0;
    for (int64_t row = 0; row < count; row++) {
        if (waiting->slot[row] >= 0 && waiting->totals[waiting->slot[row]] >= need) reached += waiting->records[row];
    }
    return reached;
}

LOOP(count_reached) {
    (void)module;
    Arguments taken;
    if (!take_arguments(arguments, WAITING "nnn" SETS, &taken)) return NULL;
    Waiting waiting = waiting_of(taken.arrays);
    Sets sets = sets_of(taken.arrays + 7);
    int64_t reached;
    Py_BEGIN_ALLOW_THREADS
    reached = reached_of(&waiting, taken.numbers[0], taken.numbers[1], taken.numbers[2], &sets);
    Py_END_ALLOW_THREADS
    release_arguments(&taken);
    return PyLong_FromLongLong(reached);
}

static int64_t release(const Waiting *waiting, int64_t count, int64_t chosen, int64_t need, const Classes *classes, const Sets *sets,
                       const Places *places, const Nodes *nodes) {
    int64_t left = 0;
    for (int64_t row = 0; row < count; row++) {
        int64_t part = waiting->part[row];
        int32_t slot = waiting->slot[row];
        if (slot >= 0 && waiting->totals[slot] >= need) {
            uint64_t key = waiting->masked[row];
            int64_t node = node_of(nodes, key);
            if (node < 0) node = new_node(nodes, key);
            nodes->size[node] += waiting->records[row];
            places->node[part] = (int32_t)node;
            places->set[part] = (int32_t)chosen;
            places->cost[part] = cost_under(part, chosen, classes, sets, places);
        } else {
            waiting->part[left] = part;
            for (int64_t word = 0; word < waiting->words; word++) {
                waiting->key[word * waiting->room + left] = waiting->key[word * waiting->room + row];
            }
            waiting->records[left] = waiting->records[row];
            left++;
        }
    }
    return left;
}

LOOP(release_reached) {
    (void)module;
    Arguments taken;
    if (!take_arguments(arguments, WAITING "nnn" CLASSES SETS PLACES NODES, &taken)) return NULL;
    const Array *at = taken.arrays;
    Waiting waiting = waiting_of(at);
    Classes classes = classes_of(at + 7);
    Sets sets = sets_of(at + 9);
    Places places = places_of(at + 13);
    Nodes nodes = nodes_of(at + 18);
    int64_t left;
    Py_BEGIN_ALLOW_THREADS
    left = release(&waiting, taken.numbers[0], taken.numbers[1], taken.numbers[2], &classes, &sets, &places, &nodes);
    Py_END_ALLOW_THREADS
    release_arguments(&taken);
    return PyLong_FromLongLong(left);
}
