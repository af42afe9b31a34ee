/* Groups completed by donors: records that others can spare join a group that lacks a few. */
#include "classes.h"

#define BLOCK 4096 /* rows whose keys are masked together */
#define FEW_GAINERS 8 /* rows are counted beforehand where one in so many would gain */
#define SKIPPED 15 /* sets after one where counting turned few away */

/* Work space, by slot of a hash table: the group's key (`table`) and its `number`; a bit map of who can bear donors. By group number: `slot`,
 * the last row linked to it (`head`), what its gainers gain (`hope`), how many records it lacks, the most one donor may cost it (`bar`).
 * By row of movable parts: the `masked` key, the row linked before (`following`), `took`, `loss` of one record. `line` and `spare_line`: rows
 * to be put in order. */
typedef struct {
    uint64_t *table;
    int32_t *number;
    uint64_t *marks;
    int32_t *slot, *head;
    int64_t *hope, *lacking, *bar;
    uint64_t *masked;
    int32_t *following;
    int64_t *took, *loss;
    int32_t *line, *spare_line;
} Groups;

typedef struct {
    const int64_t *movable;
    int64_t rows;
    uint64_t *row_key; /* words x rows */
    int64_t *dear;     /* what each row costs: falling, as it was in the beginning; where items cost differently, as it is */
    int64_t *row_cost; /* columns x rows, where items cost differently */
    uint8_t *row_records, *crowd; /* records of each row in the beginning, FULL at most; how many may agree on a key */
    int64_t passed, skipped; /* gainers passed over; sets whose rows are not counted beforehand, since that would pass over few */
    int64_t need, safe, price;
    int64_t *budget;
    Groups groups;
    Classes classes;
    Sets sets;
    Places places;
    Nodes nodes;
    int64_t gainers, count, chosen;
    int bits;
} Work;

static void free_groups(Groups *groups) {
    free(groups->table), free(groups->number), free(groups->marks), free(groups->slot), free(groups->head), free(groups->hope);
    free(groups->lacking), free(groups->bar), free(groups->masked), free(groups->following), free(groups->took), free(groups->loss);
    free(groups->line), free(groups->spare_line);
}

static bool make_groups(Groups *groups, int64_t rows, int64_t most) {
    size_t size = (size_t)1 << bits_for(most), line = (size_t)rows + 1, each = (size_t)most + 1;
    *groups = (Groups){calloc(size, 8), malloc(size * 4), malloc(size), malloc(each * 4), malloc(each * 4), malloc(each * 8),
                       malloc(each * 8), malloc(each * 8), malloc(line * 8), malloc(line * 4), calloc(line, 8), malloc(line * 8),
                       malloc(line * 4), malloc(line * 4)};
    return groups->table && groups->number && groups->marks && groups->slot && groups->head && groups->hope && groups->lacking &&
           groups->bar && groups->masked && groups->following && groups->took && groups->loss && groups->line && groups->spare_line;
}

/* Return how many records of `part` its class can spare: a safe class stays safe, any other keeps `need`.
 * Who waits is free. A part that is all of its class may go as a whole where the class may vanish. */
static inline int64_t spare_of(const Work *work, int64_t part, bool vanish) {
    int64_t node = work->places.node[part], spare = work->places.records[part];
    if (node > 0) {
        int64_t size = work->nodes.size[node];
        if (spare < size || !vanish) spare = least_of(spare, size - (size >= work->safe ? work->safe : work->need));
    }
    return spare;
}

static inline int64_t loss_of(const Work *work, int64_t part) {
    return cost_under(part, work->chosen, &work->classes, &work->sets, &work->places) - work->places.cost[part];
}

/* Fill in what a record of each row loses under the chosen set, where items cost differently; return how many rows gain. */
static int64_t find_losses(Work *work) {
    int64_t *loss = work->groups.loss, gainers = 0;
    for (int64_t first = 0; first < work->rows; first += BLOCK) {
        int64_t last = least_of(first + BLOCK, work->rows);
        for (int64_t row = first; row < last; row++) loss[row] = -work->dear[row];
        for (int64_t column = 0; column < work->sets.columns; column++) {
            if (!((work->sets.bits[work->chosen] >> column) & 1)) continue;
            const int64_t *cost = work->row_cost + column * work->rows;
            for (int64_t row = first; row < last; row++) loss[row] += cost[row];
        }
        for (int64_t row = first; row < last; row++) gainers += loss[row] < 0;
    }
    return gainers;
}

/* Count how many records may agree on each key under the chosen set, donors too; return false where that is not worth while. What a part can
 * spare is never more than the records it had in the beginning. */
static bool count_crowd(Work *work, int shift) {
    if (work->gainers * FEW_GAINERS < work->rows) return false;
    if (work->skipped > 0) {
        work->skipped--;
        return false;
    }
    memset(work->crowd, 0, (size_t)1 << (64 - shift));
    mask_keys(work->row_key, work->classes.words, work->rows, 0, work->rows, &work->sets, work->chosen, work->groups.masked);
    for (int64_t row = 0; row < work->rows; row++) crowd_add(work->crowd, work->groups.masked[row], work->row_records[row], shift);
    return true;
}

/* Link the rows that would become cheaper under the chosen set to their groups. A row whose key too few share, and no class has, is passed over:
 * its group could not be completed. */
static void link_gainers(Work *work) {
    Groups *groups = &work->groups;
    int shift = 64 - work->bits, crowd = crowd_shift(work->rows);
    bool known = work->sets.stride > 0; /* losses are found already */
    int64_t rows = known ? work->rows : work->gainers, least = least_of(work->need, FULL);
    bool counted = count_crowd(work, crowd);
    if (!counted) mask_keys(work->row_key, work->classes.words, work->rows, 0, rows, &work->sets, work->chosen, groups->masked);
    work->count = work->passed = 0;
    for (int64_t row = 0; row < rows; row++) {
        if (known && groups->loss[row] >= 0) continue;
        uint64_t key = groups->masked[row];
        if (counted && !crowded(work->crowd, key, least, crowd) && !marked(work->nodes.marks, key, work->nodes.mark_shift)) {
            work->passed++;
            continue;
        }
        int64_t part = work->movable[row], spare = spare_of(work, part, true);
        if (spare <= 0 || key == 0) continue;
        int64_t loss = known ? groups->loss[row] : loss_of(work, part);
        if (loss >= 0) continue;
        int64_t slot = probe(groups->table, key, shift);
        if (groups->table[slot] == 0) {
            groups->table[slot] = key;
            groups->number[slot] = (int32_t)work->count;
            groups->head[work->count] = -1;
            groups->hope[work->count] = 0;
            groups->lacking[work->count] = work->need;
            groups->slot[work->count++] = (int32_t)slot;
        }
        int32_t group = groups->number[slot];
        groups->hope[group] -= spare * loss;
        groups->lacking[group] -= spare;
        groups->loss[row] = loss;
        groups->following[row] = groups->head[group];
        groups->head[group] = (int32_t)row;
    }
    if (counted && 4 * work->passed < work->gainers) work->skipped = SKIPPED;
}

/* Set the most that one donor may cost each group: what its gainers gain, shared by the donors that it lacks. Return the largest. */
static int64_t set_bars(Work *work) {
    Groups *groups = &work->groups;
    int64_t largest = -1;
    for (int64_t group = 0; group < work->count; group++) {
        groups->bar[group] = -1;
        if (groups->lacking[group] > 0) {
            int64_t node = node_of(&work->nodes, groups->table[groups->slot[group]]);
            if (node >= 0) groups->lacking[group] -= work->nodes.size[node];
        }
        if (groups->lacking[group] > 0) {
            groups->bar[group] = floor_divided(groups->hope[group] - 1, groups->lacking[group]);
            largest = most_of(largest, groups->bar[group]);
        }
    }
    return largest;
}

static int64_t largest_bar(const Work *work) {
    int64_t largest = -1;
    for (int64_t group = 0; group < work->count; group++) largest = most_of(largest, work->groups.bar[group]);
    return largest;
}

/* Mark the groups that can bear a donor of this dearness; return the largest bar. */
static int64_t renew_marks(Work *work, int64_t dearness) {
    Groups *groups = &work->groups;
    memset(groups->marks, 0, (size_t)1 << work->bits); /* 2^(bits + 3) bits */
    for (int64_t group = 0; group < work->count; group++) {
        if (groups->bar[group] >= dearness) mark(groups->marks, groups->table[groups->slot[group]], 64 - work->bits - 3);
    }
    return largest_bar(work);
}

/* Link a row to the group it may give records to, and lower what that group still lacks and can bear. */
static void link_donor(Work *work, int64_t row, int64_t group) {
    Groups *groups = &work->groups;
    int64_t part = work->movable[row], node = work->places.node[part], spare = spare_of(work, part, false);
    if (spare <= 0 || work->places.set[part] == work->chosen || (node > 0 && work->nodes.key[node] == groups->table[groups->slot[group]])) return;
    int64_t loss = loss_of(work, part);
    groups->loss[row] = loss;
    groups->following[row] = groups->head[group];
    groups->head[group] = (int32_t)row;
    /* Twice as many as the group lacks are linked: another group may take some first. */
    groups->hope[group] -= most_of(loss, 0) * most_of(0, least_of(spare, groups->lacking[group]));
    groups->lacking[group] -= spare;
    if (groups->lacking[group] > 0) groups->bar[group] = floor_divided(groups->hope[group] - 1, groups->lacking[group]);
    else if (groups->lacking[group] <= -work->need) groups->bar[group] = -1;
}

/* Link rows that the groups may take as donors, by rising cost to the group. A bit map turns most rows away at once. The search ends at the
 * largest bar that any group had when marks were renewed last: where rows were passed over, their groups are missing from it. Return false
 * where that decides, so that all have to be linked. */
static bool link_donors(Work *work) {
    Groups *groups = &work->groups;
    int shift = 64 - work->bits, mark_shift = 64 - work->bits - 3;
    int64_t limit = set_bars(work), marked_for = -1, renewals = 0, ready = work->gainers;
    for (int64_t row = work->gainers; row < work->rows; row++) {
        int64_t dearness = work->sets.cost[work->chosen] - work->dear[row];
        if (dearness > limit) return work->passed == 0 || largest_bar(work) < dearness;
        if (marked_for < 0 || (dearness > marked_for && (renewals < 16 || dearness >= 2 * marked_for))) {
            marked_for = dearness;
            renewals++;
            limit = renew_marks(work, dearness);
            if (dearness > limit) return true;
        }
        if (row == ready) {
            ready = least_of(row + BLOCK, work->rows);
            mask_keys(work->row_key, work->classes.words, work->rows, row, ready, &work->sets, work->chosen, groups->masked);
        }
        uint64_t key = groups->masked[row];
        if (!marked(groups->marks, key, mark_shift)) continue;
        int64_t slot = probe(groups->table, key, shift);
        if (groups->table[slot] == 0 || groups->bar[groups->number[slot]] < dearness) continue;
        link_donor(work, row, groups->number[slot]);
    }
    return true;
}

/* Link donors where items cost differently: those whose groups can bear them, by rising loss. */
static void link_donors_by_loss(Work *work) {
    Groups *groups = &work->groups;
    int shift = 64 - work->bits, mark_shift = 64 - work->bits - 3;
    int64_t count = 0;
    if (set_bars(work) < 0) return;
    renew_marks(work, 0);
    for (int64_t row = 0; row < work->rows; row++) {
        uint64_t key = groups->masked[row];
        if (groups->loss[row] < 0 || !marked(groups->marks, key, mark_shift)) continue;
        int64_t slot = probe(groups->table, key, shift);
        if (groups->table[slot] != 0 && groups->bar[groups->number[slot]] >= groups->loss[row]) groups->line[count++] = (int32_t)row;
    }
    sort_by(groups->loss, count, &groups->line, &groups->spare_line);
    for (int64_t at = 0; at < count; at++) {
        int64_t row = groups->line[at], group = groups->number[probe(groups->table, groups->masked[row], shift)];
        if (groups->bar[group] >= groups->loss[row]) link_donor(work, row, group);
    }
}

/* What a group would be: its size, what is gained (less `price` for each class more), how many rows moved, how many classes there are
 * more, and how many more exposed records (in classes below `safe`). */
typedef struct {
    int64_t size, gained, moves, more, exposed;
} Outcome;

/* Take a group's rows out of their classes: all that become cheaper, then donors from the least dear on until it counts `need`. */
static Outcome take(Work *work, int64_t group, int64_t target) {
    Groups *groups = &work->groups;
    const Places *places = &work->places;
    const Nodes *nodes = &work->nodes;
    Outcome done = {target < 0 ? 0 : nodes->size[target], 0, 0, 0, 0};
    done.more = done.size > 0 ? 0 : 1;
    done.gained = -work->price * done.more;
    done.exposed = done.size < work->safe ? -done.size : 0;
    int64_t linked = 0, level = -FAR;
    for (int32_t at = groups->head[group]; at >= 0; at = groups->following[at]) groups->line[linked++] = at;
    sort_by(groups->loss, linked, &groups->line, &groups->spare_line);
    for (int64_t place = 0; place < linked; place++) {
        int32_t at = groups->line[place];
        int64_t part = work->movable[at], node = places->node[part];
        if (groups->loss[at] != level) {
            level = groups->loss[at];
            if (level >= 0 && (done.size >= work->need || done.gained <= level * (work->need - done.size))) break;
        }
        if (node == target) continue;
        int64_t spare = spare_of(work, part, level < 0);
        if (level >= 0) spare = least_of(spare, work->need - done.size);
        if (spare <= 0) continue;
        groups->took[at] = spare;
        done.moves++;
        done.size += spare;
        done.gained -= level * spare;
        places->records[part] -= spare;
        if (node > 0) {
            if (nodes->size[node] < work->safe) done.exposed -= spare;
            nodes->size[node] -= spare;
            if (nodes->size[node] == 0) {
                done.more--;
                done.gained += work->price;
            }
        }
    }
    if (done.size < work->safe) done.exposed += done.size;
    return done;
}

/* Put what a group took into its class, or back where it came from. */
static void put(Work *work, int64_t group, bool accepted, int64_t target) {
    Groups *groups = &work->groups;
    const Places *places = &work->places;
    for (int32_t at = groups->head[group]; at >= 0; at = groups->following[at]) {
        int64_t moved = groups->took[at], part = work->movable[at];
        groups->took[at] = 0;
        if (moved > 0 && !accepted) {
            places->records[part] += moved;
            if (places->node[part] > 0) work->nodes.size[places->node[part]] += moved;
        } else if (moved > 0) {
            int64_t into = part;
            if (places->records[part] > 0) {
                into = work->nodes.used[0]++;
                places->item[into] = places->item[part];
            }
            places->records[into] = moved;
            places->set[into] = (int32_t)work->chosen;
            places->node[into] = (int32_t)target;
            places->cost[into] = places->cost[part] + groups->loss[at];
            if (into == part && work->sets.stride > 0) work->dear[at] = places->cost[part];
        }
    }
}

static int64_t complete(Work *work, int64_t chosen) {
    Groups *groups = &work->groups;
    const Nodes *nodes = &work->nodes;
    int64_t total = 0;
    work->chosen = chosen;
    bool differs = work->sets.stride > 0;
    work->gainers = differs ? find_losses(work) : first_not_above(work->dear, work->rows, work->sets.cost[chosen]);
    work->bits = bits_for(work->gainers);
    link_gainers(work);
    if (differs) {
        link_donors_by_loss(work);
    } else if (!link_donors(work)) {
        for (int64_t group = 0; group < work->count; group++) groups->table[groups->slot[group]] = 0;
        work->skipped = SKIPPED + 1;
        link_gainers(work);
        link_donors(work);
    }
    for (int64_t group = 0; group < work->count; group++) {
        int64_t slot = groups->slot[group];
        if (groups->lacking[group] <= 0) {
            int64_t target = node_of(nodes, groups->table[slot]);
            Outcome done = take(work, group, target);
            /* Room for every move of this group, and for the nodes that greedy may still open. */
            bool room = nodes->used[0] + done.moves <= work->places.room && nodes->used[1] + nodes->used[2] < nodes->room;
            bool affordable = done.more <= most_of(work->budget[0], 0) && done.exposed <= most_of(work->budget[1], 0);
            bool accepted = done.size >= work->need && done.gained > 0 && room && affordable;
            if (accepted) {
                work->budget[0] -= done.more;
                work->budget[1] -= done.exposed;
                if (target < 0) target = new_node(nodes, groups->table[slot]);
                nodes->size[target] = done.size;
                total += done.gained;
            }
            put(work, group, accepted, target);
        }
        groups->table[slot] = 0;
    }
    return total;
}

static bool complete_all(Work *work, const int64_t *chosen, int64_t sets, int64_t *total) {
    int64_t words = work->classes.words, rows = work->rows, most = 0;
    work->dear = malloc(8 * (size_t)(rows + 1));
    work->row_key = malloc(8 * (size_t)(words * rows + 1));
    int64_t columns = work->sets.stride; /* none where all items cost the same */
    work->row_cost = malloc(8 * (size_t)(columns * rows + 1));
    work->row_records = malloc((size_t)rows + 1);
    work->crowd = malloc((size_t)1 << (64 - crowd_shift(rows)));
    bool ready = work->dear && work->row_key && work->row_cost && work->row_records && work->crowd;
    if (ready) {
        for (int64_t row = 0; row < rows; row++) {
            int64_t part = work->movable[row];
            work->dear[row] = work->places.cost[part];
            work->row_records[row] = (uint8_t)least_of(work->places.records[part], FULL);
            for (int64_t word = 0; word < words; word++) {
                work->row_key[word * rows + row] = work->classes.key[word * work->classes.items + work->places.item[part]];
            }
            for (int64_t column = 0; column < columns; column++) {
                bool there = (work->classes.present[work->places.item[part]] >> column) & 1;
                work->row_cost[column * rows + row] = there ? work->sets.cell_cost[work->places.item[part] * columns + column] : 0;
            }
        }
        if (columns > 0) most = rows;
        for (int64_t which = 0; columns == 0 && which < sets; which++) {
            most = most_of(most, first_not_above(work->dear, rows, work->sets.cost[chosen[which]]));
        }
        ready = make_groups(&work->groups, rows, most);
        *total = 0;
        for (int64_t which = 0; ready && which < sets; which++) *total += complete(work, chosen[which]);
        free_groups(&work->groups);
    }
    free(work->dear), free(work->row_key), free(work->row_cost), free(work->row_records), free(work->crowd);
    return ready;
}

LOOP(complete_groups) {
    (void)module;
    Arguments taken;
    if (!take_arguments(arguments, "llnnnl!" CLASSES SETS PLACES NODES, &taken)) return NULL;
    const Array *at = taken.arrays;
    Work work = {.movable = at[0].data, .rows = at[0].rows, .need = taken.numbers[0], .safe = taken.numbers[1],
                 .price = taken.numbers[2], .budget = at[2].data, .classes = classes_of(at + 3), .sets = sets_of(at + 5),
                 .places = places_of(at + 9), .nodes = nodes_of(at + 14)};
    int64_t total = 0;
    bool done;
    Py_BEGIN_ALLOW_THREADS
    done = complete_all(&work, at[1].data, at[1].rows, &total);
    Py_END_ALLOW_THREADS
    release_arguments(&taken);
    return done ? PyLong_FromLongLong(total) : PyErr_NoMemory();
}
