"""The reference library's tokenizer for any source."""

from __future__ import annotations

from typing import Any

from tokexport.sources.reference import ReferenceTokenizer
from tokexport.sources.registry import open_source


def reference_for(source: Any, **how: Any) -> ReferenceTokenizer:
    """The reference of a source, which is opened with the options ``how``."""
    return open_source(source, **how).reference()
