"""What compiled kernels share: their cache, compiling beforehand, arrays that grow."""
