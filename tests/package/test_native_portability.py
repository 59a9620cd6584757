"""Builtins of GCC and Clang that the extension calls also exist for Microsoft's compiler."""

import re

from repository import ROOT

NATIVE = ROOT / "tokexport" / "native"
BUILT_IN = re.compile(r"__(?:builtin_\w+|attribute__|int128|asm__)")
# Code that the preprocessor passes only to GCC and Clang.
GUARDED = re.compile(r"#if[^\n]*__GNUC__.*?(?:#else|#endif)", re.S)


def test_every_builtin_in_use_has_a_replacement_for_msvc() -> None:
    replaced = set(BUILT_IN.findall((NATIVE / "msvc.h").read_text(encoding="utf-8")))
    called = {
        (path.name, name)
        for path in NATIVE.rglob("*")
        if path.suffix in (".cpp", ".h") and "avx" not in path.name
        for name in BUILT_IN.findall(GUARDED.sub("", path.read_text(encoding="utf-8")))
    }
    assert {name for _, name in called} == replaced, sorted(called)
