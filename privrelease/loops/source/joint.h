/* Several requirements at once: how many records agree in each, and which of them may change what they show. */
#ifndef PRIVRELEASE_JOINT_H
#define PRIVRELEASE_JOINT_H

#include "classes.h"

#define JOINT "(uU!L!llll!uL)"

typedef struct {
    const uint64_t *fields;
    uint64_t *table; /* requirements x slots */
    int64_t *totals;
    const int64_t *need, *safe, *residual_least;
    int64_t *residual;
    const uint64_t *field;
    const int64_t *cell_cost; /* rows x columns: one row for all parts, or one for each origin */
    int64_t requirements, slots, columns, stride;
    int shift;
} Joint;

static inline Joint joint_of(const Array *at) {
    return (Joint){at[0].data, at[1].data, at[2].data, at[3].data, at[4].data, at[5].data, at[6].data, at[7].data, at[8].data,
                   at[3].rows, at[1].columns, at[7].rows, at[8].rows > 1 ? at[7].rows : 0, 64 - log2_of(at[1].columns)};
}

/* Return the key bits of the columns that are not in `hidden`. */
static inline uint64_t shown_bits(int64_t hidden, const Joint *joint) {
    uint64_t bits = 0;
    for (int64_t column = 0; column < joint->columns; column++) {
        if (!((hidden >> column) & 1)) bits |= joint->field[column];
    }
    return bits;
}

static inline int64_t *total_of(const Joint *joint, int64_t which, uint64_t key, uint64_t *found) {
    uint64_t *table = joint->table + which * joint->slots;
    int64_t slot = probe(table, key, joint->shift);
    if (found != NULL) *found = table[slot];
    return joint->totals + which * joint->slots + slot;
}

/* Return how many of `count` records each requirement by itself lets go, the least of them. Where `settled` says so, the class that they join
 * may still be too small; it is NULL where none may be. */
static inline int64_t movable_once(uint64_t before, uint64_t after, int64_t count, const int64_t *settled, const Joint *joint) {
    int64_t allowed = count;
    for (int64_t which = 0; which < joint->requirements; which++) {
        uint64_t old = before & joint->fields[which], new = after & joint->fields[which], found;
        if (old == new) continue;
        if (new == 0) return 0;
        if (settled == NULL || !settled[which]) {
            int64_t *open = total_of(joint, which, new, &found);
            if (found != new || *open < joint->safe[which]) return 0;
        }
        int64_t size, least;
        if (old == 0) {
            size = joint->residual[which];
            least = joint->residual_least[which];
        } else {
            size = *total_of(joint, which, old, NULL);
            least = size >= joint->safe[which] ? joint->safe[which] : joint->need[which];
        }
        if (count != size) allowed = least_of(allowed, size - least);
    }
    return most_of(allowed, 0);
}

/* Return how many of `count` records may change their key so that every requirement that held still holds.
 * In each requirement that sees the change they must join a class that is open (and safe), and leave theirs large enough, or empty:
 * where one lets fewer go, the others are asked again, since they may have counted on theirs being emptied. */
static inline int64_t movable_jointly(uint64_t before, uint64_t after, int64_t count, const int64_t *settled, const Joint *joint) {
    while (count > 0) {
        int64_t allowed = movable_once(before, after, count, settled, joint);
        if (allowed == count) return count;
        count = allowed;
    }
    return 0;
}

/* Add `count` records of a key; `keys`: how many keys each table has, NULL where no one asks. */
static inline void add_jointly(int64_t which, uint64_t key, int64_t count, const Joint *joint, int64_t *keys) {
    if (key == 0) {
        joint->residual[which] += count;
        return;
    }
    uint64_t *table = joint->table + which * joint->slots;
    int64_t slot = probe(table, key, joint->shift);
    if (table[slot] == 0) {
        table[slot] = key;
        if (keys != NULL) keys[which]++;
    }
    joint->totals[which * joint->slots + slot] += count;
}

/* Count `count` records under their new key. */
static inline void move_jointly(uint64_t before, uint64_t after, int64_t count, const Joint *joint, int64_t *keys) {
    for (int64_t which = 0; which < joint->requirements; which++) {
        uint64_t old = before & joint->fields[which], new = after & joint->fields[which];
        if (old == new) continue;
        add_jointly(which, new, count, joint, keys);
        add_jointly(which, old, -count, joint, keys);
    }
}

/* Count the classes of every requirement. */
static inline void count_jointly(const uint64_t *key, const int64_t *hidden, const int64_t *records, int64_t parts, const Joint *joint,
                                 int64_t *keys) {
    size_t slots = (size_t)(joint->requirements * joint->slots);
    memset(joint->table, 0, 8 * slots);
    memset(joint->totals, 0, 8 * slots);
    memset(joint->residual, 0, 8 * (size_t)joint->requirements);
    for (int64_t part = 0; part < parts; part++) {
        uint64_t shown = key[part] & shown_bits(hidden[part], joint);
        for (int64_t which = 0; which < joint->requirements; which++) {
            add_jointly(which, shown & joint->fields[which], records[part], joint, keys);
        }
    }
}

#endif
