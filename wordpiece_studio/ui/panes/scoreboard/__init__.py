"""The scoreboard pane: the merge of the step, its formula and its candidates."""
