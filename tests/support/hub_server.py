"""A Hugging Face hub on loopback: as much of its protocol as `huggingface_hub` speaks to find files
and fetch them.

What is asked: the commit of a revision (``/api/models/NAME/revision/REVISION``), the list of a
commit's files (``/api/models/NAME/tree/COMMIT``), and for each file first its headers, then its
content (``/NAME/resolve/COMMIT/FILE``).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

API = re.compile(r"/api/models/([^/]+/[^/]+)/(revision|tree)/([^/]+)")
RESOLVE = re.compile(r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)")


@dataclass
class Repository:
    """The files of each commit, and the commit of each branch and tag."""

    commits: dict[str, dict[str, bytes]] = field(default_factory=dict)
    revisions: dict[str, str] = field(default_factory=dict)
    gated: bool = False

    def commit(self, files: dict[str, bytes], *names: str) -> str:
        """Adds a commit, to which branches and tags then point."""
        sha = hashlib.sha1(repr((sorted(files.items()), len(self.commits))).encode()).hexdigest()
        self.commits[sha] = files
        self.revisions |= dict.fromkeys((*names, sha), sha)
        return sha


@dataclass
class Hub:
    """What the server holds, and what it was asked for. ``broken`` is an answer to everything:
    status, content, headers.
    """

    repositories: dict[str, Repository] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    broken: tuple[int, bytes, dict[str, str]] | None = None
    port: int = 0

    @property
    def url(self) -> str:
        """The hub's address."""
        return f"http://127.0.0.1:{self.port}"

    def environment(self, home: Path) -> dict[str, str]:
        """The environment of a process that knows this hub and no other network, and has its cache
        in ``home``.
        """
        ours = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
        nowhere = dict.fromkeys(
            ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "http://127.0.0.1:9"
        )
        around = dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1")
        mine = {"HF_ENDPOINT": self.url, "HF_HOME": str(home), "HF_HUB_DISABLE_TELEMETRY": "1"}
        return {**ours, **nowhere, **around, **mine}


class _Handler(BaseHTTPRequestHandler):
    hub: Hub

    def do_GET(self) -> None:
        """Answers, and keeps in mind what was asked."""
        path = urlsplit(self.path).path
        self.hub.requests.append(f"{self.command} {path}")
        if self.hub.broken is not None:
            self._answer(*self.hub.broken)
        elif match := API.fullmatch(path):
            self._api(*map(unquote, match.groups()))
        elif match := RESOLVE.fullmatch(path):
            self._file(*map(unquote, match.groups()))
        else:
            self._refuse(404, "EntryNotFound")

    do_HEAD = do_GET  # noqa: N815

    def _api(self, name: str, what: str, revision: str) -> None:
        repository = self.hub.repositories.get(name)
        if repository is None:
            self._refuse(401, "RepoNotFound")
        elif revision not in repository.revisions:
            self._refuse(404, "RevisionNotFound")
        else:
            sha = repository.revisions[revision]
            files = [
                {
                    "type": "file",
                    "path": path,
                    "size": len(content),
                    "oid": hashlib.sha1(content).hexdigest(),
                }
                for path, content in repository.commits[sha].items()
            ]
            siblings = [{"rfilename": entry["path"]} for entry in files]
            answer = {"id": name, "sha": sha, "siblings": siblings} if what == "revision" else files
            self._answer(200, json.dumps(answer).encode(), {"Content-Type": "application/json"})

    def _file(self, name: str, revision: str, path: str) -> None:
        repository = self.hub.repositories[name]
        if repository.gated:
            self._refuse(403, "GatedRepo")
            return
        sha = repository.revisions[revision]
        content = repository.commits[sha][path]
        self._answer(
            200, content, {"X-Repo-Commit": sha, "ETag": f'"{hashlib.sha1(content).hexdigest()}"'}
        )

    def _refuse(self, status: int, code: str) -> None:
        self._answer(status, b"", {"X-Error-Code": code, "X-Error-Message": code})

    def _answer(self, status: int, content: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    def log_message(self, format: str, *arguments: object) -> None:
        """Says nothing: ``Hub.requests`` has it."""


@contextmanager
def running() -> Iterator[Hub]:
    """An empty hub that answers as long as the block runs."""
    hub = Hub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": hub}))
    hub.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
