/* Places of released rows: each row takes the next place of what its part releases. */
#include "classes.h"

#define AT_ONCE 64

#if defined(__GNUC__)
#define SOON(address) __builtin_prefetch(address)
#else
#define SOON(address) ((void)(address))
#endif

/* `table`: slots of (key + 1, part whose turn it is); `state`: of each part what it releases, -1 for nothing, and the rows that it still lacks. */
typedef struct {
    uint64_t *table;
    int64_t *state, *following;
    int64_t slots, parts, released;
    int shift;
} Turns;

/* Place up to AT_ONCE rows, in their order; return false where a key has no slot or its class no row left. What each row needs is fetched before. */
static bool place_some(const Turns *turns, const uint64_t *key, int64_t rows, int64_t *place) {
    uint64_t slot[AT_ONCE], last = (uint64_t)turns->slots - 1;
    for (int64_t row = 0; row < rows; row++) {
        slot[row] = ((key[row] + 1) * MULTIPLIER) >> turns->shift;
        SOON(turns->table + 2 * slot[row]);
    }
    for (int64_t row = 0; row < rows; row++) {
        uint64_t wanted = key[row] + 1, at = slot[row];
        while (turns->table[2 * at] != wanted && turns->table[2 * at] != 0) at = (at + 1) & last;
        if (turns->table[2 * at] == 0 || turns->table[2 * at + 1] >= (uint64_t)turns->parts) return false;
        slot[row] = at;
        SOON(turns->state + 2 * turns->table[2 * at + 1]);
    }
    for (int64_t row = 0; row < rows; row++) {
        int64_t part = (int64_t)turns->table[2 * slot[row] + 1];
        while (part < turns->parts && turns->state[2 * part + 1] == 0) part++;
        if (part == turns->parts || turns->state[2 * part] >= turns->released) return false;
        turns->table[2 * slot[row] + 1] = (uint64_t)part;
        turns->state[2 * part + 1]--;
        place[row] = turns->state[2 * part];
        if (place[row] >= 0) SOON(turns->following + place[row]);
    }
    for (int64_t row = 0; row < rows; row++) {
        if (place[row] >= 0) place[row] = turns->following[place[row]]++;
    }
    return true;
}

LOOP(place_rows) {
    (void)module;
    Arguments taken;
    if (!take_arguments(arguments, "uU!L!l!l!", &taken)) return NULL;
    const Array *at = taken.arrays;
    int64_t rows = at[0].rows, slots = at[1].rows;
    Turns turns = {at[1].data, at[2].data, at[3].data, slots, at[2].rows, at[3].rows, 64 - log2_of(slots)};
    const uint64_t *key = at[0].data;
    int64_t *place = at[4].data;
    bool sound = slots > 1 && (slots & (slots - 1)) == 0 && at[1].columns == 2 && at[2].columns == 2 && at[4].rows == rows;
    if (!sound) {
        release_arguments(&taken);
        PyErr_SetString(PyExc_TypeError, "an array has another shape");
        return NULL;
    }
    bool known = true;
    Py_BEGIN_ALLOW_THREADS
    for (int64_t first = 0; first < rows && known; first += AT_ONCE) {
        known = place_some(&turns, key + first, least_of(AT_ONCE, rows - first), place + first);
    }
    Py_END_ALLOW_THREADS
    release_arguments(&taken);
    return PyBool_FromLong(known);
}
