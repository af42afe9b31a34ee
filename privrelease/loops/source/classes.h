/* Released classes by their packed keys: hash tables, bit maps and the arrays of a record search.
 *
 * A class is a key with a field of bits per column, 0 = missing, so suppressing a set of columns is one AND with the bits that stay. A
 * released class (a node) is identified by its masked key alone. Node 0 stands for "nothing shown". Keys of up to 64 bits are exact;
 * longer ones have several words, folded to 64 bits after masking: two classes may then be taken for one (about one chance in 10^19 for a
 * pair), which exact measurement of the outcome finds. */
#ifndef PRIVRELEASE_CLASSES_H
#define PRIVRELEASE_CLASSES_H

#include "arrays.h"

#define MULTIPLIER 0x9E3779B97F4A7C15ULL /* 2^64 / golden ratio: Fibonacci hashing takes the product's upper bits */
#define FAR (INT64_C(1) << 62)

/* Named tuples of Python, see privrelease/disclosure/suppression/arrays.py. */
#define CLASSES "(Ul)"
#define SETS "(UllL)"
#define PLACES "(l!l!i!i!l!)"
#define NODES "(i!u!u!l!l!)"
#define WAITING "(l!U!l!u!u!l!i!)"

typedef struct {
    const uint64_t *key; /* words x items */
    const int64_t *present;
    int64_t words, items;
} Classes;

typedef struct {
    const uint64_t *kept; /* words x sets */
    const int64_t *bits, *cost;
    const int64_t *cell_cost; /* rows x columns: one row for all items, or one for each */
    int64_t count, columns, stride; /* stride: from the costs of one item to those of the next, 0 where all cost the same */
} Sets;

typedef struct {
    int64_t *item, *records;
    int32_t *set, *node;
    int64_t *cost;
    int64_t room;
} Places;

typedef struct {
    int32_t *slots;
    uint64_t *marks, *key;
    int64_t *size, *used;
    int64_t n_slots, room;
    int slot_shift, mark_shift;
} Nodes;

typedef struct {
    int64_t *part;
    uint64_t *key; /* words x room */
    int64_t *records;
    uint64_t *masked, *table;
    int64_t *totals;
    int32_t *slot;
    int64_t words, room;
    int table_bits;
} Waiting;

static inline int64_t least_of(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t most_of(int64_t a, int64_t b) { return a > b ? a : b; }

/* Return b with 2^b at least twice `count`, and at least 4. */
static inline int bits_for(int64_t count) {
    int bits = 4;
    while ((INT64_C(1) << bits) < 2 * count) bits++;
    return bits;
}

/* Return the logarithm of a power of two. */
static inline int log2_of(int64_t size) {
    int bits = 0;
    while ((INT64_C(1) << bits) < size) bits++;
    return bits;
}

static inline Classes classes_of(const Array *at) {
    return (Classes){at[0].data, at[1].data, at[0].rows, at[0].columns};
}

static inline Sets sets_of(const Array *at) {
    int64_t columns = at[3].columns;
    return (Sets){at[0].data, at[1].data, at[2].data, at[3].data, at[0].columns, columns, at[3].rows > 1 ? columns : 0};
}

static inline Places places_of(const Array *at) {
    return (Places){at[0].data, at[1].data, at[2].data, at[3].data, at[4].data, at[0].rows};
}

static inline Nodes nodes_of(const Array *at) {
    return (Nodes){at[0].data, at[1].data, at[2].data, at[3].data, at[4].data, at[0].rows, at[2].rows,
                   64 - log2_of(at[0].rows), 58 - log2_of(at[1].rows)};
}

static inline Waiting waiting_of(const Array *at) {
    return (Waiting){at[0].data, at[1].data, at[2].data, at[3].data, at[4].data, at[5].data, at[6].data, at[1].rows, at[1].columns,
                     log2_of(at[4].rows)};
}

/* Return the first place in the falling costs whose value is not above `value`. */
static inline int64_t first_not_above(const int64_t *falling, int64_t length, int64_t value) {
    int64_t low = 0, high = length;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (falling[middle] > value) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* Divide, rounding down, by a positive number. */
static inline int64_t floor_divided(int64_t value, int64_t by) {
    return value >= 0 ? value / by : -((by - 1 - value) / by);
}

/* Sort `count` rows of `line` by rising value; of equal values the order stays. The two lines are exchanged where the result is in the other. */
static inline void sort_by(const int64_t *value, int64_t count, int32_t **line, int32_t **spare) {
    int32_t *source = *line, *target = *spare;
    const int64_t run = 16;
    for (int64_t low = 0; low < count; low += run) {
        for (int64_t at = low + 1; at < least_of(low + run, count); at++) {
            int32_t row = source[at];
            int64_t to = at;
            for (; to > low && value[source[to - 1]] > value[row]; to--) source[to] = source[to - 1];
            source[to] = row;
        }
    }
    for (int64_t width = run; width < count; width *= 2) {
        for (int64_t low = 0; low < count; low += 2 * width) {
            int64_t middle = least_of(low + width, count), high = least_of(low + 2 * width, count), i = low, k = middle;
            for (int64_t at = low; at < high; at++) {
                bool first = i < middle && (k >= high || value[source[i]] <= value[source[k]]);
                target[at] = first ? source[i++] : source[k++];
            }
        }
        int32_t *swapped = source;
        source = target;
        target = swapped;
    }
    *line = source;
    *spare = target;
}

/* Fill `masked` with what set `chosen` leaves of the keys; further words are folded in, each by an odd multiplier of its own. */
static inline void mask_keys(const uint64_t *key, int64_t words, int64_t stride, int64_t first, int64_t last, const Sets *sets,
                             int64_t chosen, uint64_t *masked) {
    uint64_t bits = sets->kept[chosen];
    for (int64_t row = first; row < last; row++) masked[row] = key[row] & bits;
    uint64_t multiplier = MULTIPLIER;
    for (int64_t word = 1; word < words; word++) {
        bits = sets->kept[word * sets->count + chosen];
        const uint64_t *own = key + word * stride;
        for (int64_t row = first; row < last; row++) masked[row] ^= (own[row] & bits) * multiplier;
        multiplier *= MULTIPLIER;
    }
}

/* Return what `mask_keys` leaves of one row. */
static inline uint64_t mask_key(const uint64_t *key, int64_t words, int64_t stride, int64_t row, const Sets *sets, int64_t chosen) {
    uint64_t masked;
    mask_keys(key + row, words, stride, 0, 1, sets, chosen, &masked);
    return masked;
}

/* Upper bounds of how many records agree on a key: bytes of 2^(64 - shift) that full at 255, which several keys may share. */
#define FULL 255

static inline int crowd_shift(int64_t rows) {
    int bits = 6;
    while ((INT64_C(1) << bits) < rows) bits++;
    return 64 - bits;
}

static inline void crowd_add(uint8_t *crowd, uint64_t key, int64_t records, int shift) {
    uint8_t *at = crowd + ((key * MULTIPLIER) >> shift);
    *at = (uint8_t)least_of(*at + records, FULL);
}

/* Return whether `least` records may agree on a key: no false negatives, with `least` of at most FULL. */
static inline bool crowded(const uint8_t *crowd, uint64_t key, int64_t least, int shift) {
    return crowd[(key * MULTIPLIER) >> shift] >= least;
}

/* Return the slot of `key` in an open-addressing table of 2^(64 - shift) slots, or the empty slot (0) where it belongs. */
static inline int64_t probe(const uint64_t *table, uint64_t key, int shift) {
    uint64_t last = (UINT64_C(1) << (64 - shift)) - 1;
    uint64_t slot = (key * MULTIPLIER) >> shift;
    while (table[slot] != key && table[slot] != 0) slot = (slot + 1) & last;
    return (int64_t)slot;
}

/* Mark `key` in a bit map of 2^(64 - shift) bits. */
static inline void mark(uint64_t *marks, uint64_t key, int shift) {
    uint64_t place = (key * MULTIPLIER) >> shift;
    marks[place >> 6] |= UINT64_C(1) << (place & 63);
}

/* Return whether `key` may have been marked: no false negatives. */
static inline bool marked(const uint64_t *marks, uint64_t key, int shift) {
    uint64_t place = (key * MULTIPLIER) >> shift;
    return (marks[place >> 6] >> (place & 63)) & 1;
}

/* Return the node with `key`, -1 where there is none. The bit map answers most without a look at the nodes. */
static inline int64_t node_of(const Nodes *nodes, uint64_t key) {
    if (!marked(nodes->marks, key, nodes->mark_shift)) return -1;
    uint64_t last = (uint64_t)nodes->n_slots - 1;
    uint64_t slot = (key * MULTIPLIER) >> nodes->slot_shift;
    while (nodes->slots[slot] >= 0 && nodes->key[nodes->slots[slot]] != key) slot = (slot + 1) & last;
    return nodes->slots[slot];
}

/* Open a node for `key`, which has none yet. */
static inline int64_t new_node(const Nodes *nodes, uint64_t key) {
    uint64_t last = (uint64_t)nodes->n_slots - 1;
    uint64_t slot = (key * MULTIPLIER) >> nodes->slot_shift;
    while (nodes->slots[slot] >= 0) slot = (slot + 1) & last;
    int64_t node = nodes->used[1]++;
    nodes->slots[slot] = (int32_t)node;
    mark(nodes->marks, key, nodes->mark_shift);
    nodes->key[node] = key;
    nodes->size[node] = 0;
    return node;
}

/* Return the summed cost of the columns in `bits`; `costs`: of a cell of each column. */
static inline int64_t cell_cost(int64_t bits, const int64_t *costs) {
    int64_t total = 0;
    for (int column = 0; bits; column++, bits >>= 1) {
        if (bits & 1) total += costs[column];
    }
    return total;
}

/* Return what a record of `item` loses with the columns of set `chosen`. */
static inline int64_t cost_of_item(int64_t item, int64_t chosen, const Classes *classes, const Sets *sets) {
    return cell_cost(sets->bits[chosen] & classes->present[item], sets->cell_cost + item * sets->stride);
}

/* Return what a record of `part` costs under set `chosen`. */
static inline int64_t cost_under(int64_t part, int64_t chosen, const Classes *classes, const Sets *sets, const Places *places) {
    return cost_of_item(places->item[part], chosen, classes, sets);
}

#endif
