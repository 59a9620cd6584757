"""Tables -> files: the layout, declared once, and the writer."""

from __future__ import annotations
