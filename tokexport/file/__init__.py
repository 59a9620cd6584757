"""Tables -> files: one module a target format."""

from __future__ import annotations
