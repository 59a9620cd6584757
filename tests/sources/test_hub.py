"""A repository of the Hugging Face hub is a source: the same file as from a folder, or a sentence
that says what to do.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from forked import Forks
from hub_server import Repository, running

from tokexport.sources.hub import is_repository

pytest.importorskip("huggingface_hub")

NAME = "somebody/a-model.v2"
MAIN = "from tokexport.cli import main; main()"
CONFIG = b'{"eos_token": "<|im_end|>"}'
GENERATION = b'{"eos_token_id": [3]}'


@pytest.fixture
def hub():
    """A hub that holds nothing."""
    with running() as hub:
        yield hub


@pytest.fixture
def python(hub, tmp_path):
    """Runs Python code with arguments in a process of its own: the library reads its environment
    once, where it is imported.
    """
    work = tmp_path / "work"
    work.mkdir()

    def run_python(code, *arguments, **environment):
        return subprocess.run(
            [sys.executable, "-c", code, *map(str, arguments)],
            capture_output=True,
            text=True,
            check=False,
            cwd=work,
            env={**hub.environment(tmp_path / "home"), **environment},
        )

    run_python.folder = work
    return run_python


@pytest.fixture(scope="module")
def forks(tmp_path_factory):
    """Processes that have imported all that does not look at the environment of a hub."""
    modules = [f"tokexport.cli.{name}" for name in ("convert", "diff", "inspect", "verify")]
    modules += [
        "tokexport.sources.tokenizer_json.reference",
        "tokexport.file.write",
        "tokexport.verification.selftest",
    ]
    modules += [
        "anyio",
        "asyncio",
        "filelock",
        "h11",
        "httpcore2",
        "httpx2",
        "tqdm.auto",
        "yaml",
    ]  # the library's own
    forks = Forks(modules, tmp_path_factory.mktemp("forks"))
    yield forks
    forks.close()


@pytest.fixture
def command(forks, python, hub, tmp_path):
    """Runs `tokexport` in a process of its own."""

    def run_command(*arguments, **environment):
        environment = {**hub.environment(tmp_path / "home"), **environment}
        return forks.run(
            MAIN, [str(argument) for argument in arguments], python.folder, environment
        )

    return run_command


@pytest.fixture
def files(small_source):
    """The files of a repository: a tokenizer's, and others."""
    return {
        "tokenizer.json": small_source("qwen").read_bytes(),
        "tokenizer_config.json": CONFIG,
        "generation_config.json": GENERATION,
        "chat_template.jinja": b"{{ messages }}",
        "model.safetensors": b"weights",
        "pytorch_model.bin": b"weights",
        "original/tokenizer.model": b"something else",
        "README.md": b"about it",
    }


@pytest.fixture
def repository(hub, files):
    """The hub's one repository."""
    repository = hub.repositories[NAME] = Repository()
    repository.commit(files, "main")
    return repository


def fetched(hub):
    return {line.rpartition("/")[2] for line in hub.requests if line.startswith("GET /somebody")}


def assert_refused(done, *words):
    """One sentence, exit code 2, no file."""
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("tokexport: ")
    assert done.stderr.count("\n") == 1
    for word in words:
        assert word in done.stderr


def test_a_repository_becomes_the_same_file_as_a_folder_with_its_files(
    command, repository, files, python
):
    folder = python.folder / "folder"
    folder.mkdir()
    for name, content in files.items():
        if "/" not in name:
            (folder / name).write_bytes(content)
    done = command("convert", NAME, "-o", "hub.bin", "--json")
    assert done.returncode == 0, done.stderr
    assert command("convert", "folder", "-o", "folder.bin").returncode == 0
    assert (python.folder / "hub.bin").read_bytes() == (python.folder / "folder.bin").read_bytes()
    assert json.loads(done.stdout)["commit"] == repository.revisions["main"]
    digests = json.loads(command("inspect", "hub.bin", "--json").stdout)["provenance"]["sha256"]
    assert set(digests) == {
        "tokenizer.json",
        "tokenizer_config.json",
        "generation_config.json",
        "chat_template.jinja",
    }


def test_only_the_files_of_a_tokenizer_are_downloaded_and_a_file_once(command, repository, hub):
    assert command("convert", NAME).returncode == 0
    names = {
        "tokenizer.json",
        "tokenizer_config.json",
        "generation_config.json",
        "chat_template.jinja",
    }
    assert fetched(hub) == names
    hub.requests.clear()
    assert command("convert", NAME, "--force").returncode == 0
    assert fetched(hub) == set()


def test_a_person_reads_which_commit_it_was(command, repository):
    assert f"{NAME} at commit {repository.revisions['main']}" in command("convert", NAME).stdout


def test_verify_inspect_and_diff_take_a_repository_too(command, repository):
    assert command("convert", NAME, "-o", "it.bin").returncode == 0
    verified = command(
        "verify", "it.bin", "--against", NAME, "--strings", 50, "--only", "added-tokens:0"
    )
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert "no differences" in verified.stdout
    same = command("diff", "it.bin", NAME)
    assert (same.returncode, same.stdout[:14]) == (0, "no difference:"), same.stdout + same.stderr
    of_file, of_name = (
        json.loads(command("inspect", it, "--json").stdout) for it in ("it.bin", NAME)
    )
    assert of_name["exact"]
    for fact in ("ids", "merges", "special_ids", "chat_template"):
        assert of_file[fact] == of_name["file"][fact]
    assert of_name["file"]["provenance"]["sha256"] == of_file["provenance"]["sha256"]
    assert of_name["source"] == NAME


def test_a_difference_to_a_repository_is_found(command, repository, files, small_source):
    assert command("convert", NAME, "-o", "it.bin").returncode == 0
    repository.commit({**files, "tokenizer.json": small_source("gpt2").read_bytes()}, "main")
    assert command("diff", "it.bin", NAME).returncode == 1
    verified = command(
        "verify",
        "it.bin",
        "--against",
        NAME,
        "--revision",
        "main",
        "--strings",
        50,
        "--only",
        "added-tokens:0",
    )
    assert verified.returncode == 1, verified.stdout + verified.stderr
    again = next(line for line in verified.stdout.splitlines() if "tokexport verify" in line)
    assert f"it.bin --against {NAME} --revision main" in again


def test_python_takes_a_repository_too(python, repository):
    code = f"""
import tokexport
model = tokexport.read({NAME!r})
print(len(model.tokens), sorted(model.provenance.sha256), tokexport.convert({NAME!r}, "it.bin", revision="main").commit)
print(tokexport.load("it.bin").n_vocab, tokexport.verify("it.bin", against={NAME!r}, only="added-tokens:0").ok)
"""
    done = python(code)
    assert done.returncode == 0, done.stderr
    count, *_, commit, n_vocab, ok = done.stdout.split()
    assert (count, commit, ok) == (n_vocab, repository.revisions["main"], "True")


def test_a_revision_is_a_branch_a_tag_or_a_commit(command, repository, files, small_source):
    other = {**files, "tokenizer.json": small_source("gpt2").read_bytes()}
    sha = repository.commit(other, "refs/pr/1", "v1.0")
    main = json.loads(command("convert", NAME, "-o", "main.bin", "--json").stdout)
    assert main["commit"] == repository.revisions["main"] != sha
    for number, revision in enumerate(("refs/pr/1", "v1.0", sha)):
        result = json.loads(
            command("convert", NAME, "--revision", revision, "-o", f"{number}.bin", "--json").stdout
        )
        assert result["commit"] == sha
        assert command("diff", f"{number}.bin", NAME, "--revision", revision).returncode == 0
    facts = json.loads(command("inspect", NAME, "--revision", "v1.0", "--json").stdout)
    digest = hashlib.sha256(other["tokenizer.json"]).hexdigest()
    assert facts["file"]["provenance"]["sha256"]["tokenizer.json"] == digest


def test_a_repository_with_only_a_vocabulary_and_what_decides_how_it_is_read(command, python, hub):
    """Without its tokenizer_config.json a vocab.txt would lower letters: the ids would be others."""
    words = b"[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nWord\nword\n"
    hub.repositories[NAME] = Repository()
    hub.repositories[NAME].commit(
        {"vocab.txt": words, "tokenizer_config.json": b'{"do_lower_case": false}'}, "main"
    )
    done = command("convert", NAME, "-o", "it.bin", "--json")
    assert done.returncode == 0, done.stderr
    code = "import tokexport; print(tokexport.load('it.bin').encode('Word word'))"
    assert python(code).stdout == "[5, 6]\n"


def test_a_branch_that_has_moved_is_read_where_it_is_now(command, repository, files, small_source):
    assert command("convert", NAME, "-o", "it.bin").returncode == 0
    sha = repository.commit({**files, "tokenizer.json": small_source("gpt2").read_bytes()}, "main")
    assert (
        json.loads(command("convert", NAME, "-o", "it.bin", "--force", "--json").stdout)["commit"]
        == sha
    )


def test_a_path_that_exists_wins(command, repository, hub, python, small_source):
    folder = python.folder / NAME
    folder.mkdir(parents=True)
    (folder / "tokenizer.json").write_bytes(small_source("gpt2").read_bytes())
    done = command("convert", NAME, "--json")
    assert json.loads(done.stdout)["commit"] is None
    assert hub.requests == []
    assert_refused(
        command("convert", NAME, "--revision", "main", "--force"), "a revision is for a repository"
    )


@pytest.mark.parametrize(
    "source", ["gpt2", "models/tokenizer.json", "a/b/c", "./a/b", "/a/b", "a/b/", "a--b/c", "../b", ".a/b", "a/b.", "a/"]
)  # fmt: skip
def test_what_cannot_be_a_name_is_a_path_and_nothing_is_asked(source):
    assert not is_repository(source)


def test_a_path_object_is_never_a_name():
    assert is_repository("nobody/nothing")
    assert not is_repository(Path("nobody/nothing"))


def test_a_misspelt_path_is_not_asked_for_in_the_network(command, hub):
    assert_refused(
        command("convert", "models/tokenizer.json"), "models/tokenizer.json", "No such file"
    )
    assert hub.requests == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("convert", "it.json"),
        ("inspect", "it.bin"),
        ("diff", "it.bin", "it.json"),
        ("verify", "it.bin", "--against", "it.json"),
    ],
)
def test_a_revision_of_a_file_is_refused(
    arguments, run, small_source, small_file, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    Path("it.json").write_bytes(small_source("gpt2").read_bytes())
    Path("it.bin").write_bytes(small_file("gpt2").read_bytes())
    outcome = run(*arguments, "--revision", "main")
    assert (outcome.code, outcome.stdout) == (2, b"")
    assert "a revision is for a repository" in outcome.stderr


def test_a_repository_that_is_not_there_or_private(command, hub):
    assert_refused(
        command("convert", "nobody/nothing"), "no such repository", hub.url, "hf auth login"
    )


def test_a_gated_repository_says_where_access_is_asked_for(command, repository, hub):
    repository.gated = True
    assert_refused(command("convert", NAME), "access", f"{hub.url}/{NAME}", "hf auth login")


def test_a_revision_that_is_not_there(command, repository):
    assert_refused(command("convert", NAME, "--revision", "v9"), "no revision 'v9'", "branch")


def test_a_repository_without_a_tokenizer(command, hub):
    hub.repositories[NAME] = Repository()
    hub.repositories[NAME].commit({"model.safetensors": b"weights"}, "main")
    done = command("convert", NAME)
    assert done.returncode == 2
    # The library has its own say before.
    assert (
        "the repository holds no file of a tokenizer; looked for tokenizer.json"
        in done.stderr.splitlines()[-1]
    )


def test_without_the_network_the_cache_is_enough(command, repository, hub, python):
    assert command("convert", NAME, "-o", "first.bin").returncode == 0
    hub.requests.clear()
    offline = command("convert", NAME, "-o", "offline.bin", HF_HUB_OFFLINE="1")
    assert offline.returncode == 0, offline.stderr
    assert hub.requests == []
    unreachable = command(
        "convert", NAME, "-o", "unreachable.bin", HF_ENDPOINT="http://127.0.0.1:9"
    )
    assert unreachable.returncode == 0, unreachable.stderr
    assert (
        len(
            {
                (python.folder / f"{name}.bin").read_bytes()
                for name in ("first", "offline", "unreachable")
            }
        )
        == 1
    )


def test_offline_and_nothing_in_the_cache(command, repository, hub):
    assert_refused(
        command("convert", NAME, HF_HUB_OFFLINE="1"),
        "the cache does not hold",
        "HF_HUB_OFFLINE is set",
    )
    assert hub.requests == []


def test_a_hub_that_cannot_be_reached(command):
    address = "http://127.0.0.1:9"
    assert_refused(
        command("convert", NAME, HF_ENDPOINT=address),
        f"{address} cannot be reached",
        "check the network",
    )


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((503, b"", {}), ("answered with status 503", "try again later")),
        ((429, b"", {}), ("answered with status 429", "try again later")),
        (
            (401, b"", {"X-Error-Message": "Invalid credentials in Authorization header"}),
            ('"Invalid credentials in Authorization header"', "hf auth login"),
        ),
        ((200, b"<html>Log in to this network</html>", {}), ("HF_ENDPOINT",)),
    ],
)
def test_an_endpoint_that_is_broken_or_no_hub(answer, words, command, hub):
    hub.broken = answer
    assert_refused(command("convert", NAME), NAME, hub.url, *words)


def test_a_cache_of_which_nobody_knows_whether_it_is_whole_is_not_used(
    command, python, repository, hub
):
    """As other programs leave it, which need one file: here tokenizer_config.json is missing, and
    would not be missed.
    """
    one = f"import huggingface_hub; huggingface_hub.hf_hub_download({NAME!r}, 'tokenizer.json')"
    assert python(one).returncode == 0
    assert_refused(command("convert", NAME, HF_HUB_OFFLINE="1"), "is not known", "with the network")
    assert command("convert", NAME).returncode == 0
    assert command("convert", NAME, "--force", HF_HUB_OFFLINE="1").returncode == 0


def test_a_cache_of_which_a_file_was_taken_is_not_used(command, repository, tmp_path):
    assert command("convert", NAME).returncode == 0
    (gone,) = tmp_path.glob("home/hub/*/snapshots/*/tokenizer_config.json")
    gone.unlink()
    assert_refused(
        command("convert", NAME, "--force", HF_HUB_OFFLINE="1"), "the cache does not hold all"
    )


def test_without_the_library_the_sentence_says_what_to_install(python):
    done = python(f"import sys; sys.modules['huggingface_hub'] = None\n{MAIN}", "convert", NAME)
    assert_refused(done, "no such file", "pip install 'tokexport[hub]'")


def test_a_conversion_of_a_file_does_not_import_the_library(python, small_source):
    code = (
        f"import sys, tokexport; tokexport.convert({str(small_source('gpt2'))!r});"
        " print('huggingface_hub' in sys.modules)"
    )
    done = python(code)
    assert (done.stdout, done.stderr) == ("False\n", "")
