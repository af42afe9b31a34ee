/* Classes that are closed so that an average or a share of exposed records comes to hold. */
#include "classes.h"

static bool find_all(const int64_t *chosen, int64_t rows, int64_t least, const Classes *classes, const Sets *sets, const Places *places,
                     const Nodes *nodes, int32_t *other_set, int32_t *other_node, int64_t *other_cost) {
    int64_t last = sets->count - 1;
    uint64_t *masked = malloc(8 * (size_t)(classes->words > 1 ? classes->items : 1));
    if (masked == NULL) return false;
    for (int64_t row = 0; row < rows; row++) {
        int64_t part = chosen[row], item = places->item[part], present = classes->present[item];
        uint64_t own = nodes->key[places->node[part]];
        other_set[row] = (int32_t)last;
        other_node[row] = 0;
        other_cost[row] = cost_of_item(item, last, classes, sets);
        /* Where all items cost the same and nothing is missing, sets come by rising cost. */
        bool complete = sets->stride == 0 && (sets->bits[last] & present) == sets->bits[last];
        for (int64_t which = 0; which < last; which++) {
            if (complete && sets->cost[which] >= other_cost[row]) break;
            uint64_t key = classes->key[item] & sets->kept[which];
            if (classes->words > 1) {
                mask_keys(classes->key, classes->words, classes->items, item, item + 1, sets, which, masked);
                key = masked[item];
            }
            if (key == own || key == 0) continue;
            int64_t node = node_of(nodes, key);
            if (node <= 0 || nodes->size[node] < least) continue;
            int64_t cost = cost_of_item(item, which, classes, sets);
            if (cost < other_cost[row]) {
                other_set[row] = (int32_t)which;
                other_node[row] = (int32_t)node;
                other_cost[row] = cost;
            }
        }
    }
    free(masked);
    return true;
}

LOOP(find_alternatives) {
    (void)module;
    Arguments taken;
    if (!take_arguments(arguments, "ln" CLASSES SETS PLACES NODES "i!i!l!", &taken)) return NULL;
    const Array *at = taken.arrays;
    Classes classes = classes_of(at + 1);
    Sets sets = sets_of(at + 3);
    Places places = places_of(at + 7);
    Nodes nodes = nodes_of(at + 12);
    bool done;
    Py_BEGIN_ALLOW_THREADS
    done = find_all(at[0].data, at[0].rows, taken.numbers[0], &classes, &sets, &places, &nodes, at[17].data, at[18].data, at[19].data);
    Py_END_ALLOW_THREADS
    release_arguments(&taken);
    if (!done) return PyErr_NoMemory();
    Py_RETURN_NONE;
}

typedef struct {
    const int64_t *closing, *starts, *chosen;
    int64_t classes, least, safe;
    const int32_t *other_set, *other_node;
    const int64_t *other_cost;
    Places places;
    Nodes nodes;
    int64_t *excess;
} Closing;

/* Return whether the parts of `node` are still its parts and the classes they would join are still open. */
static bool can_close(const Closing *work, int64_t node, int64_t first, int64_t last) {
    for (int64_t row = first; row < last; row++) {
        int64_t other = work->other_node[row];
        if (work->places.node[work->chosen[row]] != node || (other > 0 && work->nodes.size[other] < work->least)) return false;
    }
    return true;
}

static void close_all(const Closing *work, bool *received) {
    const Places *places = &work->places;
    int64_t *size = work->nodes.size, *excess = work->excess;
    for (int64_t which = 0; which < work->classes; which++) {
        if (excess[0] <= 0 && excess[1] <= 0) return;
        int64_t node = work->closing[which], first = work->starts[which], last = work->starts[which + 1];
        if (received[node] || !can_close(work, node, first, last)) continue;
        for (int64_t row = first; row < last; row++) {
            int64_t part = work->chosen[row], other = work->other_node[row];
            places->set[part] = work->other_set[row];
            places->node[part] = (int32_t)other;
            places->cost[part] = work->other_cost[row];
            if (other > 0) {
                int64_t before = size[other];
                size[other] += places->records[part];
                received[other] = true;
                if (before < work->safe) excess[1] += size[other] < work->safe ? places->records[part] : -before;
            }
        }
        excess[0]--;
        if (size[node] < work->safe) excess[1] -= size[node];
        size[node] = 0;
    }
}

LOOP(close_classes) {
    (void)module;
    Arguments taken;
    if (!take_arguments(arguments, "lllnniil" PLACES NODES "l!", &taken)) return NULL;
    const Array *at = taken.arrays;
    Closing work = {at[0].data, at[1].data, at[2].data, at[0].rows, taken.numbers[0], taken.numbers[1], at[3].data, at[4].data,
                    at[5].data, places_of(at + 6), nodes_of(at + 11), at[16].data};
    bool *received = calloc((size_t)work.nodes.room + 1, sizeof(bool));
    if (received != NULL) {
        Py_BEGIN_ALLOW_THREADS
        close_all(&work, received);
        Py_END_ALLOW_THREADS
    }
    release_arguments(&taken);
    if (received == NULL) return PyErr_NoMemory();
    free(received);
    Py_RETURN_NONE;
}
