"""How the window looks: themes, colours, icons, cards, and the widgets that several panes are made of."""
