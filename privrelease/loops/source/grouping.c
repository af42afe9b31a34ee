/* Greedy: the sets of columns of one cost, the one that releases most waiting records first. */
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

/* Rows that a set of columns released when it was last tried. Rows only leave, so classes only shrink: no other row is released by it later. */
typedef struct {
    int32_t *rows; /* NULL: not kept */
    int64_t count, gain; /* gain: at most what the set would release now; -1: nothing any more */
} Tried;

/* `line`: the rows that were looked at last, then those that would be released, `ready` of them. `dead` rows of `count` are released, and
 * their key is 0. `crowd` turns rows away that share a key with too few, unless most rows are in classes, which are `dense` then. */
typedef struct {
    Waiting waiting;
    const Sets *sets;
    int64_t need, count, dead, ready, room;
    int32_t *line;
    uint8_t *crowd;
    bool dense;
} Layer;

#define ROOM 4 /* rows that all tried sets keep, for each that waits */

/* Put into `line` the rows that may reach the class size under set `chosen`; return how many. */
static int64_t look(Layer *layer, int64_t chosen, const Tried *tried) {
    const Waiting *waiting = &layer->waiting;
    int64_t looked = 0, least = least_of(layer->need, FULL);
    if (tried->rows != NULL) {
        for (int64_t at = 0; at < tried->count; at++) {
            int32_t row = tried->rows[at];
            waiting->masked[row] = mask_key(waiting->key, waiting->words, waiting->room, row, layer->sets, chosen);
            if (waiting->masked[row] != 0) layer->line[looked++] = row;
        }
        return looked;
    }
    mask_keys(waiting->key, waiting->words, waiting->room, 0, layer->count, layer->sets, chosen, waiting->masked);
    if (layer->dense) {
        for (int64_t row = 0; row < layer->count; row++) {
            if (waiting->masked[row] != 0) layer->line[looked++] = (int32_t)row;
        }
        return looked;
    }
    int shift = crowd_shift(layer->count);
    memset(layer->crowd, 0, (size_t)1 << (64 - shift));
    for (int64_t row = 0; row < layer->count; row++) crowd_add(layer->crowd, waiting->masked[row], waiting->records[row], shift);
    for (int64_t row = 0; row < layer->count; row++) {
        layer->line[looked] = (int32_t)row;
        looked += waiting->masked[row] != 0 && crowded(layer->crowd, waiting->masked[row], least, shift);
    }
    layer->dense = 2 * looked > layer->count - layer->dead;
    return looked;
}

/* Find the rows that set `chosen` would release; return how many records they are. */
static int64_t try_set(Layer *layer, int64_t chosen, Tried *tried) {
    const Waiting *waiting = &layer->waiting;
    int64_t looked = look(layer, chosen, tried), reached = 0;
    int bits = bits_for(looked);
    if (bits > waiting->table_bits) bits = waiting->table_bits; /* the table may be fuller than half */
    int shift = 64 - bits;
    uint64_t *table = waiting->table;
    memset(table, 0, 8 * ((size_t)1 << bits));
    for (int64_t at = 0; at < looked; at++) {
        int32_t row = layer->line[at];
        uint64_t key = waiting->masked[row];
        int64_t slot = probe(table, key, shift);
        if (table[slot] == 0) {
            table[slot] = key;
            waiting->totals[slot] = 0;
        }
        waiting->totals[slot] += waiting->records[row];
        waiting->slot[at] = (int32_t)slot;
    }
    layer->ready = 0;
    for (int64_t at = 0; at < looked; at++) {
        if (waiting->totals[waiting->slot[at]] < layer->need) continue;
        int32_t row = layer->line[at];
        layer->line[layer->ready++] = row;
        reached += waiting->records[row];
    }
    size_t bytes = (size_t)layer->ready * sizeof(int32_t);
    if (tried->rows == NULL && layer->ready > 0 && layer->ready <= layer->room) {
        tried->rows = malloc(bytes);
        if (tried->rows != NULL) layer->room -= layer->ready;
    }
    if (tried->rows != NULL) {
        memcpy(tried->rows, layer->line, bytes);
        tried->count = layer->ready;
    }
    return reached;
}

/* Release the rows that set `chosen` was just found to release. */
static void release(Layer *layer, int64_t chosen, const Classes *classes, const Places *places, const Nodes *nodes) {
    const Waiting *waiting = &layer->waiting;
    for (int64_t at = 0; at < layer->ready; at++) {
        int32_t row = layer->line[at];
        int64_t part = waiting->part[row];
        uint64_t key = waiting->masked[row];
        int64_t node = node_of(nodes, key);
        if (node < 0) node = new_node(nodes, key);
        nodes->size[node] += waiting->records[row];
        places->node[part] = (int32_t)node;
        places->set[part] = (int32_t)chosen;
        places->cost[part] = cost_under(part, chosen, classes, layer->sets, places);
        for (int64_t word = 0; word < waiting->words; word++) waiting->key[word * waiting->room + row] = 0;
    }
    layer->dead += layer->ready;
}

/* Move the rows that still wait to the front, in their order, and follow them in what the tried sets keep. */
static void close_up(Layer *layer, const Places *places, Tried *tried, int64_t sets) {
    const Waiting *waiting = &layer->waiting;
    int32_t *place = waiting->slot;
    int64_t left = 0;
    for (int64_t row = 0; row < layer->count; row++) {
        place[row] = -1;
        if (places->node[waiting->part[row]] != 0) continue;
        place[row] = (int32_t)left;
        waiting->part[left] = waiting->part[row];
        for (int64_t word = 0; word < waiting->words; word++) {
            waiting->key[word * waiting->room + left] = waiting->key[word * waiting->room + row];
        }
        waiting->records[left++] = waiting->records[row];
    }
    for (int64_t which = 0; which < sets; which++) {
        int64_t kept = 0;
        for (int64_t at = 0; tried[which].rows != NULL && at < tried[which].count; at++) {
            int32_t now = place[tried[which].rows[at]];
            if (now >= 0) tried[which].rows[kept++] = now;
        }
        tried[which].count = kept;
    }
    layer->count = left;
    layer->dead = 0;
}

/* Return the set that may release most, the first of equal ones, or -1; `next`: the most that any other may. */
static int64_t most_promising(const Tried *tried, int64_t sets, int64_t *next) {
    int64_t best = -1;
    *next = -1;
    for (int64_t which = 0; which < sets; which++) {
        if (tried[which].gain < 0) continue;
        if (best < 0 || tried[which].gain > tried[best].gain) {
            if (best >= 0) *next = most_of(*next, tried[best].gain);
            best = which;
        } else {
            *next = most_of(*next, tried[which].gain);
        }
    }
    return best;
}

static void release_all(Layer *layer, const int64_t *chosen, int64_t sets, Tried *tried, const Classes *classes, const Places *places,
                        const Nodes *nodes) {
    int64_t next;
    for (int64_t which = 0; which < sets; which++) tried[which] = (Tried){NULL, 0, FAR};
    while (layer->dead < layer->count) {
        int64_t best = most_promising(tried, sets, &next);
        if (best < 0) break;
        int64_t reached = try_set(layer, chosen[best], &tried[best]);
        if (reached > 0 && reached < next) {
            tried[best].gain = reached;
            continue;
        }
        if (reached > 0) release(layer, chosen[best], classes, places, nodes);
        layer->room += tried[best].rows == NULL ? 0 : tried[best].count;
        free(tried[best].rows);
        tried[best] = (Tried){NULL, 0, -1};
        if (4 * layer->dead > layer->count) close_up(layer, places, tried, sets);
    }
    close_up(layer, places, tried, sets);
    for (int64_t which = 0; which < sets; which++) free(tried[which].rows);
}

LOOP(release_layer) {
    (void)module;
    Arguments taken;
    if (!take_arguments(arguments, WAITING "nln" CLASSES SETS PLACES NODES, &taken)) return NULL;
    const Array *at = taken.arrays;
    Classes classes = classes_of(at + 8);
    Sets sets = sets_of(at + 10);
    Places places = places_of(at + 14);
    Nodes nodes = nodes_of(at + 19);
    int64_t count = taken.numbers[0];
    Layer layer = {.waiting = waiting_of(at), .sets = &sets, .need = taken.numbers[1], .count = count, .room = ROOM * count};
    Tried *tried = malloc((size_t)(at[7].rows + 1) * sizeof(Tried));
    layer.line = malloc((size_t)(count + 1) * sizeof(int32_t));
    layer.crowd = malloc((size_t)1 << (64 - crowd_shift(count)));
    bool ready = tried != NULL && layer.line != NULL && layer.crowd != NULL;
    if (ready) {
        Py_BEGIN_ALLOW_THREADS
        release_all(&layer, at[7].data, at[7].rows, tried, &classes, &places, &nodes);
        Py_END_ALLOW_THREADS
    }
    free(tried), free(layer.line), free(layer.crowd);
    release_arguments(&taken);
    return ready ? PyLong_FromLongLong(layer.count) : PyErr_NoMemory();
}
