"""The vocabulary: its tokens, searched, sorted and filtered."""
