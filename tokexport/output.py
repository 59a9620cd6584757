"""The output of a conversion: a regular file that is written atomically or left unchanged."""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from tokexport.errors import TokexportError, UnreadableError


def resolve(target: str | os.PathLike[str], *, force: bool = False, streams: bool = False) -> Path:
    """The file that ``target`` names, with symbolic links resolved.

    Raises TokexportError for a file that exists (unless ``force``), and for anything but a regular
    file: a device or a pipe is never replaced. ``streams``: standard output can be written instead.
    """
    path = Path(os.path.realpath(target))
    try:
        mode = os.stat(target).st_mode  # of /dev/stdout, a pipe has no path
    except FileNotFoundError:
        if os.fspath(target).endswith(os.sep):
            raise TokexportError(f"{target} names a folder", "name a file in it") from None
        return path
    except OSError as error:
        raise _cannot(target, error) from error
    if stat.S_ISDIR(mode):
        raise TokexportError(f"{target} is a directory", "name a file in it")
    if not stat.S_ISREG(mode):
        problem = f"{target} is a device, a pipe or a socket, and only a regular file is replaced"
        hint = "write to standard output (-o -) and redirect that" if streams else "name a file"
        raise TokexportError(problem, hint)
    if not force:
        raise _exists(target)
    return path


def make_folder(folder: Path) -> None:
    """Makes a folder and those above it, if missing. TokexportError if it is anything else."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise TokexportError(f"{folder} is not a directory", "name another") from error
    except OSError as error:
        raise _cannot(folder, error) from error


def refuse_sources(path: Path, sources: Iterable[Path]) -> None:
    """Raises TokexportError if the target ``path`` is one of the files that were read."""
    for source in sources:
        if path.exists() and source.exists() and path.samefile(source):
            raise TokexportError(f"{path} is the source itself", "choose another target")


def write_file(path: Path, content: bytes, *, force: bool = False) -> None:
    """Writes a file atomically; see ``writing``."""
    with writing(path, force=force) as file:
        file.write(content)


@contextmanager
def writing(path: Path, *, force: bool = False) -> Iterator[BinaryIO]:
    """A temporary file beside the target, renamed to it at the end: a failure leaves no file.

    Makes the folder, if missing. Without ``force`` the target's name is claimed first, so that one
    of two writers fails.
    """
    temporary = path.parent / f".tokexport-{os.urandom(8).hex()}"
    with naming(path, temporary), ExitStack() as claimed:
        make_folder(path.parent)
        with temporary.open("xb") as file:
            yield file
        if not force:
            try:
                path.open("xb").close()
            except FileExistsError as error:
                raise _exists(path) from error
            claimed.callback(_remove, path)
        os.replace(temporary, path)
        claimed.pop_all()


@contextmanager
def naming(path: Path, unfinished: Path | None = None) -> Iterator[None]:
    """Names the file or folder that is written: the error for a full disk names none. Removes the
    temporary file ``unfinished``, if it is still there.
    """
    try:
        yield
    except UnreadableError:  # it is not about the target
        raise
    except OSError as error:
        raise _cannot(path, error) from error
    finally:
        if unfinished is not None:
            _remove(unfinished)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file NAME.part, synced and renamed to ``path`` at the end: a process that is killed leaves
    the old file or the new one, whole.
    """
    temporary = path.with_name(f"{path.name}.part")
    with naming(path, temporary):
        with temporary.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)


@contextmanager
def locked(target: str | os.PathLike[str], lock: Path) -> Iterator[None]:
    """Holds ``lock`` while ``target`` is written, then removes it. A killed process holds nothing.

    Raises TokexportError if another process holds it. Does nothing on Windows, and on a file system
    that cannot lock or be written.
    """
    with ExitStack() as held:
        try:
            import fcntl

            file = held.enter_context(lock.open("wb"))
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not os.path.samestat(os.fstat(file.fileno()), lock.stat()):
                raise FileNotFoundError
            held.callback(_remove, lock)
        except (BlockingIOError, FileNotFoundError) as error:  # held, or just removed by its holder
            problem = f"{target} is being written by another process"
            raise TokexportError(problem, "wait until that has ended") from error
        except (ImportError, OSError):
            pass
        yield


def _remove(path: Path) -> None:
    """Removes a file. An error, as on a read-only file system, must not hide that of the target."""
    with suppress(OSError):
        path.unlink()


def _exists(target: str | os.PathLike[str]) -> TokexportError:
    hint = "choose another target, or overwrite it with --force (force=True)"
    return TokexportError(f"{target} exists already", hint)


def _cannot(target: str | os.PathLike[str], error: OSError) -> TokexportError:
    return TokexportError(f"{target}: cannot be written: {error.strerror or error}")
