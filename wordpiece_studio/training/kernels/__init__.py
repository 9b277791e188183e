"""The compiled engine's inner loops: pairs, the best of them, and merges forth and back. Numbers only, no text.

Importing a module of it imports numba and compiles its kernels, or loads them from their cache. They release the GIL,
allocate nothing and return after a bounded piece of work.

**Cells.** `cells` holds the corpus as :mod:`~wordpiece_studio.training.initial_state` lays it out. A token of
length L that starts at q is written at its first and its last cell; the cells strictly inside hold INSIDE. So the next
token starts at q + L, the token before ends at q - 1, and the order of words and positions is that of the cells.

**Pairs.** Each distinct pair has a row in `pairs`, found by hashing. Its occurrences are start cells in ascending order
in a block of `arena`. An entry is never removed: it is valid while the two tokens stand where it says. `FIRST` counts
entries that are known to be invalid, so the first valid one, which decides ties, is found without searching anew.

**The best pair.** Values of all pairs that share a symbol with a merge change, so nothing can be left stale. Some
thousand *hot* pairs have their exact values side by side in one array: after a merge those of its two symbols, which
lists lead to, are computed anew, and one pass over the array finds the best and its ties. That is faster than any tree,
because thousands of pairs may tie and change together. All other pairs are bounded: with `LOWEST` in place of f, a
lower bound of it, the formula gives an upper bound of the value, and that bound lies below a threshold. So a best hot
value at or above the threshold is the best of all. When f falls below its `LOWEST`, the pairs of that symbol are looked
at again; when the hot pairs run out, the driver chooses a new threshold from exact values.

Under likelihood N, and with it every value, changes at each merge. But all values are linear in log N: `hot_values`
holds what they are where log N is 0, `hot_slopes` how they grow. The few pairs that come so near to the best that
rounding could decide are compared by the formula itself.

**Back.** Every merge logs its places and what it took from which pair; rows and arena only grow. Undoing a merge pops
what it pushed, so the state before it comes back exactly.
"""
