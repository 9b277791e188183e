"""Compiled inner loops over the bytes of a corpus: its distinct chunks, and its distinct words. UTF-8 in, numbers out.

Importing a module of this package imports numba and compiles (or loads from its cache) the kernels in it. The kernels
release the GIL and allocate nothing: when room runs out they say so, the driver enlarges, and they go on where they
were.

**Table.** Distinct byte strings stand one after the other, in order of first appearance, in `store`, each with a blank
behind it. Row i of `entries` tells where the i-th begins and how often it was seen, so row i + 1 tells where it ends.
`slots` is the hash table: 0, or in the upper half 32 bits of the hash and in the lower half the row + 1. The hash
begins with a secret key, lest a text be made to collide; nothing that is given out depends on it.

**Lanes.** Bytes are searched, hashed and compared eight at a time, as one number whose lowest byte is the first. So
behind whatever is read there stand eight bytes more, no matter which.
"""
