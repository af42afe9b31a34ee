/* Several requirements at once: groups of records that change together what they lose of some columns, so that they lose less.
 *
 * A view is the columns of one requirement, or those of all. Under a set of its columns records fall into groups; what they lose of other
 * columns stays. A group's gainers move, then donors from the least dear on while its class is too small. Requirements whose columns
 * are all in the view are settled by the group: their class may open, and is counted at the end. In any other the records must join
 * a class that is open. Whatever class they leave stays large enough, or is emptied. A group that does not gain is put back. */
#include "joint.h"

#define VIEW "(nuulll)"
#define MANY 8 /* donors are linked until they are so many times what a class needs beyond what its group lacks */

/* A part that moved, or the records of it that became the part `into`. */
typedef struct {
    int64_t part, into, count, hidden;
    uint64_t before, after;
} Move;

/* Parts (`key`, `hidden`, `records`, `origin`, and `dear`: what a record loses of the view); `line`: the parts, row by row, by falling `reach`:
 * no record gains under a set that costs as much, or gains more than the difference; with `row_key`. `tally`: the keys of each requirement, whether they are counted, the gain.
 * By slot of a hash table: the group's key (`table`) and `number`; by group: `slot`, the last row linked (`head`), `hope`, `lacking`, `bar` as
 * for one requirement; by row: `following`, `loss`. */
typedef struct {
    uint64_t *key;
    int64_t *hidden, *records, *origin, *dear;
    int64_t parts, room, rows, gainers, count, view;
    const int64_t *line, *reach, *settled;
    int64_t *tally;
    uint64_t fields, kept;
    int64_t chosen, cost;
    Joint joint;
    uint64_t *row_key, *table, *marks;
    int64_t *hope, *lacking, *bar, *loss;
    int32_t *number, *slot, *head, *following, *order, *spare;
    Move *moves;
    int bits;
} Regrouping;

static void free_work(Regrouping *work) {
    free(work->row_key), free(work->table), free(work->marks), free(work->hope), free(work->lacking);
    free(work->bar), free(work->loss), free(work->number), free(work->slot), free(work->head), free(work->following);
    free(work->order), free(work->spare), free(work->moves);
}

static bool make_work(Regrouping *work, int64_t most) {
    size_t size = (size_t)1 << bits_for(most), line = (size_t)work->rows + 1, each = (size_t)most + 1;
    work->row_key = malloc(line * 8), work->loss = malloc(line * 8);
    work->following = malloc(line * 4), work->order = malloc(line * 4), work->spare = malloc(line * 4);
    work->moves = malloc(line * sizeof(Move));
    work->table = calloc(size, 8), work->marks = malloc(size), work->number = malloc(size * 4);
    work->slot = malloc(each * 4), work->head = malloc(each * 4);
    work->hope = malloc(each * 8), work->lacking = malloc(each * 8), work->bar = malloc(each * 8);
    return work->row_key && work->loss && work->following && work->order && work->spare && work->moves &&
           work->table && work->marks && work->number && work->slot && work->head && work->hope && work->lacking && work->bar;
}

/* Return the columns of the chosen set that `part` shows in the source. */
static inline int64_t lost_columns(const Regrouping *work, int64_t part) {
    int64_t lost = 0;
    for (int64_t column = 0, left = work->chosen; left; column++, left >>= 1) {
        if ((left & 1) && (work->key[part] & work->joint.field[column])) lost |= INT64_C(1) << column;
    }
    return lost;
}

/* Return what a record of a row loses more under the chosen set. */
static inline int64_t loss_of_row(const Regrouping *work, int64_t row) {
    int64_t part = work->line[row];
    const int64_t *costs = work->joint.cell_cost + work->origin[part] * work->joint.stride;
    return cell_cost(lost_columns(work, part), costs) - work->dear[part];
}

/* Return how many records the class of `key` lacks in the requirements that a group settles, at most. */
static int64_t lacking_of(const Regrouping *work, uint64_t key) {
    int64_t lacking = 0;
    for (int64_t which = 0; which < work->joint.requirements; which++) {
        if (!work->settled[which]) continue;
        uint64_t own = key & work->joint.fields[which];
        if (own == 0) return FAR;
        lacking = most_of(lacking, work->joint.need[which] - *total_of(&work->joint, which, own, NULL));
    }
    return lacking;
}

static void link_row(Regrouping *work, int64_t row, int64_t group, int64_t loss) {
    work->loss[row] = loss;
    work->following[row] = work->head[group];
    work->head[group] = (int32_t)row;
}

/* Link the rows that would lose less to their groups. */
static void link_gainers(Regrouping *work) {
    int shift = 64 - work->bits;
    work->count = 0;
    for (int64_t row = 0; row < work->gainers; row++) {
        uint64_t key = work->row_key[row] & work->kept;
        int64_t loss = key == 0 ? 0 : loss_of_row(work, row), part = work->line[row];
        if (loss >= 0) continue;
        int64_t slot = probe(work->table, key, shift);
        if (work->table[slot] == 0) {
            work->table[slot] = key;
            work->number[slot] = (int32_t)work->count;
            work->slot[work->count] = (int32_t)slot;
            work->head[work->count] = -1;
            work->hope[work->count] = 0;
            work->lacking[work->count++] = 0;
        }
        int32_t group = work->number[slot];
        work->hope[group] -= loss * work->records[part];
        work->lacking[group] -= work->records[part];
        link_row(work, row, group, loss);
    }
}

/* Find what each group lacks, and the most that one donor may cost it; return the largest, -1 where no group takes donors. */
static int64_t set_bars(Regrouping *work) {
    int64_t largest = -1;
    memset(work->marks, 0, (size_t)1 << work->bits); /* 2^(bits + 3) bits */
    for (int64_t group = 0; group < work->count; group++) {
        uint64_t key = work->table[work->slot[group]];
        work->bar[group] = -1;
        work->lacking[group] += lacking_of(work, key);
        if (work->lacking[group] <= 0 || work->lacking[group] >= FAR / 2) continue;
        work->bar[group] = (work->hope[group] - 1) / work->lacking[group];
        largest = most_of(largest, work->bar[group]);
        mark(work->marks, key, 64 - work->bits - 3);
    }
    return largest;
}

/* Link rows that the groups may take as donors. */
static void link_donors(Regrouping *work, int64_t largest) {
    int shift = 64 - work->bits;
    bool differs = work->joint.stride > 0;
    int64_t most = 0;
    for (int64_t which = 0; which < work->joint.requirements; which++) most = most_of(most, work->joint.need[which]);
    for (int64_t row = differs ? 0 : work->gainers; row < work->rows; row++) {
        if (!differs && work->cost - work->reach[row] > largest) return;
        uint64_t key = work->row_key[row] & work->kept;
        if (!marked(work->marks, key, shift - 3)) continue;
        int64_t slot = probe(work->table, key, shift);
        if (work->table[slot] == 0) continue;
        int32_t group = work->number[slot];
        if (work->bar[group] < 0) continue;
        int64_t loss = loss_of_row(work, row);
        if (loss < 0 || loss > work->bar[group]) continue;
        work->lacking[group] -= work->records[work->line[row]];
        if (work->lacking[group] <= -MANY * most) work->bar[group] = -1;
        link_row(work, row, group, loss);
    }
}

/* Let `count` records of a row's part lose the chosen set. */
static void move_row(Regrouping *work, int64_t row, int64_t count, uint64_t before, uint64_t after, Move *made) {
    int64_t part = work->line[row];
    *made = (Move){part, part, count, work->hidden[part], before, after};
    if (count < work->records[part]) {
        made->into = work->parts++;
        work->key[made->into] = work->key[part];
        work->origin[made->into] = work->origin[part];
        work->records[made->into] = count;
        work->records[part] -= count;
    }
    work->hidden[made->into] = (made->hidden & ~work->view) | lost_columns(work, part);
    work->dear[made->into] = work->dear[part] + work->loss[row];
    move_jointly(before, after, count, &work->joint, work->tally);
}

static void move_back(Regrouping *work, const Move *made, int64_t dear) {
    move_jointly(made->after, made->before, made->count, &work->joint, work->tally);
    if (made->into != made->part) {
        work->records[made->part] += made->count;
        work->parts--;
    } else {
        work->hidden[made->part] = made->hidden;
        work->dear[made->part] = dear;
    }
}

/* Return whether there is room for `rows` more parts and keys. */
static bool has_room(const Regrouping *work, int64_t rows) {
    bool room = work->parts + rows <= work->room;
    for (int64_t which = 0; which < work->joint.requirements; which++) room &= work->tally[which] + rows <= work->joint.slots / 4 * 3;
    return room;
}

/* Move a group's rows, and put them back where that does not gain; return what it gains. */
static int64_t regroup(Regrouping *work, int64_t group, uint64_t key) {
    int64_t linked = 0, made = 0, gained = 0;
    for (int32_t row = work->head[group]; row >= 0; row = work->following[row]) work->order[linked++] = row;
    if (!has_room(work, linked)) return 0;
    sort_by(work->loss, linked, &work->order, &work->spare);
    for (int64_t place = 0; place < linked; place++) {
        int64_t row = work->order[place], part = work->line[row], loss = work->loss[row], count = work->records[part];
        if (loss >= 0) {
            int64_t lacking = lacking_of(work, key);
            if (lacking == 0 || gained <= loss * lacking) break;
            count = least_of(count, lacking);
        }
        uint64_t before = work->key[part] & shown_bits(work->hidden[part], &work->joint), after = (before & ~work->fields) | key;
        if (before == after) continue;
        count = movable_jointly(before, after, count, work->settled, &work->joint);
        if (count == 0) continue;
        move_row(work, row, count, before, after, &work->moves[made]);
        work->order[made++] = (int32_t)row; /* of rows that were looked at, those that moved */
        gained -= loss * count;
    }
    if (gained > 0 && lacking_of(work, key) == 0) return gained;
    while (made-- > 0) {
        int64_t row = work->order[made];
        move_back(work, &work->moves[made], work->dear[work->moves[made].into] - work->loss[row]);
    }
    return 0;
}

static void regroup_all(Regrouping *work, const uint64_t *kept, const int64_t *chosen, const int64_t *cost, int64_t sets) {
    bool differs = work->joint.stride > 0;
    for (int64_t which = 0; which < sets; which++) {
        work->kept = kept[which], work->chosen = chosen[which], work->cost = cost[which];
        work->gainers = differs ? work->rows : first_not_above(work->reach, work->rows, work->cost);
        work->bits = bits_for(work->gainers);
        link_gainers(work);
        int64_t largest = set_bars(work);
        if (largest >= 0) link_donors(work, largest);
        for (int64_t group = 0; group < work->count; group++) {
            uint64_t key = work->table[work->slot[group]];
            work->table[work->slot[group]] = 0;
            if (work->lacking[group] <= 0) work->tally[work->joint.requirements + 1] += regroup(work, group, key);
        }
    }
}

LOOP(regroup_cells) {
    (void)module;
    Arguments taken;
    if (!take_arguments(arguments, "u!l!l!l!l!nll" VIEW "l!" JOINT, &taken)) return NULL;
    const Array *at = taken.arrays;
    const uint64_t *fields = at[7].data;
    Regrouping work = {.key = at[0].data, .hidden = at[1].data, .records = at[2].data, .origin = at[3].data, .dear = at[4].data,
                       .parts = taken.numbers[0], .room = at[0].rows, .rows = at[5].rows, .view = taken.numbers[1], .line = at[5].data, .reach = at[6].data,
                       .settled = at[11].data, .tally = at[12].data, .fields = fields[0], .joint = joint_of(at + 13)};
    const int64_t *costs = at[10].data;
    int64_t most = work.joint.stride > 0 ? work.rows : 0;
    for (int64_t row = 0; work.joint.stride == 0 && row < work.rows; row++) most += work.reach[row] > costs[0];
    bool ready = make_work(&work, most);
    if (ready) {
        Py_BEGIN_ALLOW_THREADS
        for (int64_t row = 0; row < work.rows; row++) work.row_key[row] = work.key[work.line[row]];
        if (!work.tally[work.joint.requirements]++) {
            count_jointly(work.key, work.hidden, work.records, work.parts, &work.joint, work.tally);
        }
        regroup_all(&work, at[8].data, at[9].data, costs, at[8].rows);
        Py_END_ALLOW_THREADS
    }
    free_work(&work);
    release_arguments(&taken);
    return ready ? PyLong_FromLongLong(work.parts) : PyErr_NoMemory();
}
