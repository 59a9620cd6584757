"""Shows tokens: in colours on a terminal, or as a page for a browser."""
