"""Tables -> files: the layout, declared once, and the writer."""
