"""How the fast engine finds the merges of the definition.

:mod:`~wordpiece_studio.training.reference` recounts the corpus and values every pair at every merge. These kernels
update only what a merge changes, and choose the best pair from a shortlist. This page says why the result is the same,
to the last bit; `columns` then says what the arrays hold. The kernels can be called once `load_kernels` has loaded
them. They release the GIL, allocate nothing, and return after bounded work.

**Cells.** `cells` holds the corpus as :mod:`~wordpiece_studio.training.segmentation` lays it out. A symbol of length L
that starts at cell q is written at its first and its last cell; the cells between hold INSIDE. So the next symbol
starts at q + L, the previous one ends at q - 1, and the order of words and of positions in them is the order of cells.

**Pairs.** Each distinct pair has a row in `pairs`, found by hashing, and its n in `counts`. Its occurrences are start
cells in ascending order in a block of `arena`. No entry is removed: it is valid while the two symbols stand where it
says. FIRST counts entries at the start of the block that are known to be invalid, so the first occurrence is found
without a new search.

**Counting.** A merge walks the block of its pair, writes the new symbol, and adds up per distinct neighbor what the
neighbor's pairs lose and gain. These sums update n; the merged weight updates f and N. They also give the sizes of the
new pairs' blocks, which the log of places then fills in ascending order.

**Shortlist.** A merge of a and b lowers f(a) and f(b), which raises the value of every pair of a or b, so no value may
be left stale. Only the best thousand or so pairs, the shortlist, keep exact values, side by side in one array. After a
merge those of a, b and the new symbol are computed anew, and one pass over the array finds the best and counts its
ties. This beats a tree, because thousands of pairs may tie and change together.

**Threshold.** Every other candidate has an upper bound: its value with LOWEST, a lower bound of f, in place of f. These
bounds lie below the threshold. So if the best listed value reaches the threshold, it is the best of all. When f falls
below LOWEST, LOWEST is lowered and all pairs of the symbol are checked again; new pairs, and pairs whose n changes in a
way that may raise their value, are checked at once. When no listed value reaches the threshold, or the shortlist is
full, the driver chooses a new threshold and shortlist from the exact values of all pairs.

**Likelihood.** N falls at every merge and changes all values. But they are linear in ln N, being n times ln score plus
ln N: `shortlist_values` holds them where ln N is 0, `shortlist_slopes` how they grow. Pairs so close to the best that
rounding could decide are compared by the formula of the definition itself.

**Rounding.** Let u be 2⁻⁵³. An operation has a relative error of at most u, `ln` one of 2u. Counts are below 2⁶³ and n
is at most f(a) and f(b), so no logarithm here exceeds 126 ln 2 < 88 in size. In units of n the formula's value is then
off by at most 3u (the ratio) + 2u · 88 (its logarithm) + u · 88 (the product) < 270u, and the sum by at most 2u + 3u ·
88 (n ln score) + 3u · 44 (n ln N) + u · 88 (the sum) < 490u. Two pairs may be off in opposite directions: their sums
are compared with more than 2 · 760u ≈ 1.7e-13 to spare, 1e-12 times the largest n. And since `ln` may fall by a bit
where its argument rises, a value may exceed its own upper bound, by at most 4u · 88 ≈ 4e-14 in the same units; so
bounds have 1e-12 times n to spare.

**Ties.** Values tie if they are equal as float64, and `pair_value` carries out the operations of the definition in its
order. All pairs that tie at the best value are on the shortlist. Of these the one with the smallest vocabulary ids
wins, if the settings say so, otherwise the one whose first occurrence is in the smallest cell.

**Rules.** A pair has its row before it can be a candidate, and what a pair makes never changes. So `add_row` decides
once whether it is forbidden, as it decides whether it is too long; such a pair is never listed, valued or tied with.
`forbidden` has the pairs of existing symbols; the driver names every symbol before the pairs of it get their rows, and
adds those that it is in. The driver also replaces the best pair by one that is chosen for a step.

**Undo.** A merge logs its places, and of each pair that it changes the block and the change of n. Rows, arena and logs
only grow. Undoing a merge writes both symbols back, restores what was logged and pops what was added, last in, first
out. The shortlist becomes invalid and is chosen again when it is needed.

**Invariants.** After every merge, forward or back (5 to 8: while the shortlist is valid):

1. *Cells*: each symbol stands at its first and last cell and always spells the same text; separators never move.
2. *Counts*: n, f and N are those of a fresh count.
3. *Rows*: every pair that occurs has one row, which the hash table, at most half full, and the lists of both its
   symbols lead to.
4. *Blocks*: entries ascend, the valid ones are the occurrences of the pair, and none before FIRST is valid.
5. *Bounds*: LOWEST is at most f (not kept under count, where no value depends on it).
6. *Shortlist*: n, first occurrence and value of each listed pair are up to date.
7. *Threshold*: the upper bound of every other candidate is below the threshold.
8. *Winner*: value, ties and pair of the next merge are those of the definition.
9. *Undo*: undoing a merge restores all numbers in use.

Each is kept by the test of its name in tests/training/test_invariants.py.
"""
