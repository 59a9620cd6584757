"""The layout of a tokexport file, version 1, declared once. All numbers are little-endian.

The writer builds with these declarations, and ``inspect`` reads files through them. The tables of
``formats/tokexport/SPEC.md``, the constants of the C core and the enumerations of ``tokexport.h``
are generated: run ``python formats/tokexport/generate.py`` after a change. A test compares the few
numbers that the Python runtime repeats.
"""

from tokexport.file.layout.container import *  # noqa: F403
from tokexport.file.layout.encoder import *  # noqa: F403
from tokexport.file.layout.text import *  # noqa: F403
