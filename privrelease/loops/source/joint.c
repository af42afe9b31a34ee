/* Several requirements at once: cells given back where records can join classes that are open in all of them. */
#include "classes.h"

#define JOINT "(uU!L!llll!uL)"
#define MOST_TRIES 512

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

static Joint joint_of(const Array *at) {
    return (Joint){at[0].data, at[1].data, at[2].data, at[3].data, at[4].data, at[5].data, at[6].data, at[7].data, at[8].data,
                   at[3].rows, at[1].columns, at[7].rows, at[8].rows > 1 ? at[7].rows : 0, 64 - log2_of(at[1].columns)};
}

/* Return the key bits of the columns that are not in `hidden`. */
static uint64_t shown_bits(int64_t hidden, const Joint *joint) {
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

/* Return how many of `count` records each requirement by itself lets go, the least of them. */
static int64_t movable_once(uint64_t before, uint64_t after, int64_t count, const Joint *joint) {
    int64_t allowed = count;
    for (int64_t which = 0; which < joint->requirements; which++) {
        uint64_t old = before & joint->fields[which], new = after & joint->fields[which], found;
        if (old == new) continue;
        int64_t *open = total_of(joint, which, new, &found);
        if (found != new || *open < joint->safe[which]) return 0;
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
static int64_t movable_jointly(uint64_t before, uint64_t after, int64_t count, const Joint *joint) {
    while (count > 0) {
        int64_t allowed = movable_once(before, after, count, joint);
        if (allowed == count) return count;
        count = allowed;
    }
    return 0;
}

/* Count `count` records under their new key. */
static void move_jointly(uint64_t before, uint64_t after, int64_t count, const Joint *joint) {
    for (int64_t which = 0; which < joint->requirements; which++) {
        uint64_t old = before & joint->fields[which], new = after & joint->fields[which];
        if (old == new) continue;
        *total_of(joint, which, new, NULL) += count;
        if (old == 0) joint->residual[which] -= count;
        else *total_of(joint, which, old, NULL) -= count;
    }
}

/* Count the classes of every requirement. */
static void count_jointly(const uint64_t *key, const int64_t *hidden, const int64_t *records, int64_t parts, const Joint *joint) {
    size_t slots = (size_t)(joint->requirements * joint->slots);
    memset(joint->table, 0, 8 * slots);
    memset(joint->totals, 0, 8 * slots);
    memset(joint->residual, 0, 8 * (size_t)joint->requirements);
    for (int64_t part = 0; part < parts; part++) {
        uint64_t shown = key[part] & shown_bits(hidden[part], joint);
        for (int64_t which = 0; which < joint->requirements; which++) {
            uint64_t own = shown & joint->fields[which], *table = joint->table + which * joint->slots;
            if (own == 0) {
                joint->residual[which] += records[part];
            } else {
                int64_t slot = probe(table, own, joint->shift);
                table[slot] = own;
                joint->totals[which * joint->slots + slot] += records[part];
            }
        }
    }
}

static int64_t restore(uint64_t *key, int64_t *hidden, int64_t *records, int64_t *origin, int64_t parts, int64_t room, const Joint *joint) {
    int64_t given = parts; /* parts that are split off are not looked at in this round */
    count_jointly(key, hidden, records, parts, joint);
    for (int64_t part = 0; part < given; part++) {
        int64_t mask = hidden[part], best = mask, most = 0, left = (mask - 1) & mask;
        uint64_t before = key[part] & shown_bits(mask, joint);
        const int64_t *costs = joint->cell_cost + origin[part] * joint->stride;
        for (int tries = 0; mask && tries < MOST_TRIES; tries++) {
            int64_t saved = cell_cost(mask & ~left, costs);
            if (saved > most && movable_jointly(before, key[part] & shown_bits(left, joint), records[part], joint) > 0) {
                best = left;
                most = saved;
            }
            if (left == 0) break;
            left = (left - 1) & mask;
        }
        if (most == 0) continue;
        uint64_t after = key[part] & shown_bits(best, joint);
        int64_t count = movable_jointly(before, after, records[part], joint);
        if (count < records[part]) {
            if (parts == room) continue;
            key[parts] = key[part];
            hidden[parts] = mask;
            origin[parts] = origin[part];
            records[parts] = records[part] - count;
            parts++;
        }
        records[part] = count;
        hidden[part] = best;
        move_jointly(before, after, count, joint);
    }
    return parts;
}

LOOP(restore_cells) {
    (void)module;
    Arguments taken;
    if (!take_arguments(arguments, "u!l!l!l!n" JOINT, &taken)) return NULL;
    const Array *at = taken.arrays;
    Joint joint = joint_of(at + 4);
    int64_t parts;
    Py_BEGIN_ALLOW_THREADS
    parts = restore(at[0].data, at[1].data, at[2].data, at[3].data, taken.numbers[0], at[0].rows, &joint);
    Py_END_ALLOW_THREADS
    release_arguments(&taken);
    return PyLong_FromLongLong(parts);
}
