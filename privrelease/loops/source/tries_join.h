/* The join of two sets of nodes of a trie, for one type of values. Included once for int64 and once for float64, with VALUE, JOIN and
 * PAIRS defined. Sums are taken in ascending order of the nodes, so that floats agree with the plain loops to the last bit. */

/* Compare every node of `a` with every node of `b`, last column first; add `values` to `total` where they match. */
static void PAIRS(int64_t depth, const int32_t *a, int64_t n_a, const int32_t *b, int64_t n_b, const VALUE *values, VALUE *total,
                  const Trie *trie) {
    for (int64_t i = 0; i < n_a; i++) {
        for (int64_t k = 0; k < n_b; k++) {
            int32_t x = a[i], y = b[k];
            for (int64_t d = depth; x != y; d--) { /* at depth 0 both are the root */
                const int32_t *label = trie->label + trie->offset[d], *parent = trie->parent + trie->offset[d];
                if (label[x] != label[y] && label[x] > 0 && label[y] > 0) break;
                x = parent[x];
                y = parent[y];
            }
            if (x == y) total[i] += values[k];
        }
    }
}

/* Sum `values` of the nodes `b` over those that match each node of `a`, into `total`, which is 0; both ascending ids at `depth`. */
static bool JOIN(int64_t depth, const int32_t *a, int64_t n_a, const int32_t *b, int64_t n_b, const VALUE *values, VALUE *total,
                 const Trie *trie) {
    if (n_a == 0 || n_b == 0) return true;
    if (depth == 0 || least_of(n_a, n_b) <= FEW) {
        PAIRS(depth, a, n_a, b, n_b, values, total, trie);
        return true;
    }
    size_t all = (size_t)(n_a + n_b);
    VALUE *sums = malloc(all * sizeof(VALUE));
    int32_t *block = malloc((6 * all + 4 * (size_t)most_of(n_a, n_b) + 80) * 4);
    bool done = sums != NULL && block != NULL;
    if (done) {
        const int32_t *parent = trie->parent + trie->offset[depth];
        VALUE *matched = sums + n_b;
        Side of_a = side_of(a, n_a, trie->label + trie->offset[depth], block);
        Side of_b = side_of(b, n_b, trie->label + trie->offset[depth], block + 3 * n_a);
        int32_t *left = block + 3 * all, *to_left = left + n_a, *right = to_left + n_a, *to_right = right + n_b;
        int32_t *scratch = to_right + n_b; /* as many as everything before, twice the longer side */
        sort_known(&of_a, scratch);
        sort_known(&of_b, scratch);
        /* Three pairs of parts: the column dropped from A where B lacks it; from B where only A lacks it; value by value. */
        int64_t i = 0, k = 0;
        for (int part = 0; part < 3 && done;) {
            const int32_t *a_part = NULL, *b_part = of_b.missing;
            int64_t a_size = n_a, b_size = of_b.n_missing;
            if (part == 1) {
                a_part = of_a.missing, a_size = of_a.n_missing;
                b_part = of_b.known, b_size = of_b.n_known;
            }
            if (part == 2) {
                if (i == of_a.n_known || k == of_b.n_known) break;
                int64_t i_end = run_end(&of_a, i), k_end = run_end(&of_b, k);
                int32_t value_a = of_a.labels[of_a.sorted[i]], value_b = of_b.labels[of_b.sorted[k]];
                a_part = of_a.sorted + i, a_size = i_end - i;
                b_part = of_b.sorted + k, b_size = k_end - k;
                if (value_a <= value_b) i = i_end;
                if (value_b <= value_a) k = k_end;
                if (value_a != value_b) continue;
            } else {
                part++;
            }
            if (a_size == 0 || b_size == 0) continue;
            int64_t n_left = shorter(a, a_part, a_size, parent, left, to_left);
            int64_t n_right = shorter(b, b_part, b_size, parent, right, to_right);
            memset(sums, 0, (size_t)n_right * sizeof(VALUE));
            memset(matched, 0, (size_t)n_left * sizeof(VALUE));
            for (int64_t at = 0; at < b_size; at++) sums[to_right[at]] += values[b_part == NULL ? at : b_part[at]];
            done = JOIN(depth - 1, left, n_left, right, n_right, sums, matched, trie);
            for (int64_t at = 0; at < a_size; at++) total[a_part == NULL ? at : a_part[at]] += matched[to_left[at]];
        }
    }
    free(block), free(sums);
    return done;
}
