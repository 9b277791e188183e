"""Compiled inner loops over the bytes of a corpus: its distinct chunks and distinct words. UTF-8 in, numbers out.

The kernels release the GIL and allocate nothing: when they run out of room they return, the driver enlarges the arrays,
and they continue where they were. They can be called once `load_kernels` has loaded them.

**Table.** Distinct byte strings are stored one after the other, in order of first appearance, in `store`, each followed
by a blank. Row i of `entries` says where the i-th begins and how often it was seen, so row i + 1 says where it ends.
`slots` is the hash table: 0, or 32 bits of the hash in the upper half and the row + 1 in the lower half. The hash
starts from a secret key, so that no text can be made to collide; no output depends on it.

**Lanes.** Bytes are searched, hashed and compared eight at a time, as one number whose lowest byte is the first. So
whatever is read must be followed by eight more bytes, of any value.
"""
