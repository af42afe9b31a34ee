/* Several requirements at once: cells given back where records can join classes that are open in all of them. */
#include "joint.h"

#define MOST_TRIES 512

static int64_t restore(uint64_t *key, int64_t *hidden, int64_t *records, int64_t *origin, int64_t parts, int64_t room, const Joint *joint) {
    int64_t given = parts; /* parts that are split off are not looked at in this round */
    count_jointly(key, hidden, records, parts, joint, NULL);
    for (int64_t part = 0; part < given; part++) {
        int64_t mask = hidden[part], best = mask, most = 0, left = (mask - 1) & mask;
        uint64_t before = key[part] & shown_bits(mask, joint);
        const int64_t *costs = joint->cell_cost + origin[part] * joint->stride;
        for (int tries = 0; mask && tries < MOST_TRIES; tries++) {
            int64_t saved = cell_cost(mask & ~left, costs);
            if (saved > most && movable_jointly(before, key[part] & shown_bits(left, joint), records[part], NULL, joint) > 0) {
                best = left;
                most = saved;
            }
            if (left == 0) break;
            left = (left - 1) & mask;
        }
        if (most == 0) continue;
        uint64_t after = key[part] & shown_bits(best, joint);
        int64_t count = movable_jointly(before, after, records[part], NULL, joint);
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
        move_jointly(before, after, count, joint, NULL);
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
