"""The scoreboard pane: the merge of the moment, its formula and its candidates."""
