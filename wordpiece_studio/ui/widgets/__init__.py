"""How the window looks: themes, colours, icons, panels, and the widgets that several panes are made of."""
