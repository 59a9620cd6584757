"""Every target format, by the name that the command line has for it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from tokexport.errors import TokexportError
from tokexport.targets import llama2c
from tokexport.targets.target import Target

TARGETS: Final[Mapping[str, Target]] = MappingProxyType(
    {target.name: target for target in (llama2c.LLAMA2C, llama2c.MOBILE)}
)


def target_of(name: str) -> Target:
    """The target of a name. TokexportError, which lists the names, for another one.

    >>> target_of("llama2.c").runtime_name
    'run.c of llama2.c'
    """
    if name not in TARGETS:
        raise TokexportError(f"no format is called {name!r}; there are {', '.join(TARGETS)}")
    return TARGETS[name]
