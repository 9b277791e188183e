"""The client side of a Dask cluster: connecting, waiting for results, and what can go wrong.

Every wait is bounded, and none prevents the caller from stopping. Importing this module does not load Dask. Not here:
the work itself (`cluster_counting`).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import pkgutil
import threading
import time
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Self

from wordpiece_studio.corpus.counts import stop_check
from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.printable import printable
from wordpiece_studio.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from distributed import Client, Future

    Key = tuple[str, int]

CONNECTING_SECONDS = 10.0
WORKERS_SECONDS = 30.0
"""How long to wait for the first worker."""
REPLACEMENT_SECONDS = 8.0
"""How long to wait for a new worker once the scheduler has reported that none is left."""

_POLL_SECONDS = 0.02
_WATCH_SECONDS = 1.0
_CLOSING_SECONDS = 2.0
_RETRIES = 2  # of a task that failed in a way that no text can cause
# Reported in other words by the errors raised here, or handled by Dask itself.
_EXPECTED_LOG = ("Couldn't gather", "Failed to reconnect")
_VERSION = "wordpiece_studio:__version__"
# What is wrong with the version at an address: it cannot be loaded, or is another one.
_OF_WORKERS = (
    "The worker {address} cannot load WordPiece Studio: {reason}",
    "The worker {address} runs WordPiece Studio {other}, but this machine runs {version}",
)
_OF_SCHEDULER = (
    "The scheduler {address} cannot load WordPiece Studio: {reason}",
    "The scheduler {address} runs WordPiece Studio {other}, but this machine runs {version}",
)


class Connection:
    """A connection to a scheduler, to be used in a ``with`` statement.

    Now and then `should_stop` is called; if it returns True, `CountingStopped` is raised.
    """

    def __init__(self, address: str, should_stop: Callable[[], bool] | None = None) -> None:
        try:
            import distributed
        except ImportError as error:
            raise StudioError(
                "Counting on a cluster needs Dask, which is not installed",
                'Install it: pip install "dask[distributed]" fsspec',
            ) from error
        self._distributed = distributed
        self._address = printable(address)
        self.check_stop = stop_check(should_stop)
        self._is_over = threading.Event()
        self._connected: SimpleQueue[Client | Exception] = SimpleQueue()
        self.threads = 1  # how many tasks the workers can run at the same time, as far as is known
        self._alone_since: float | None = None  # when the scheduler reported that no worker is left
        self._log = logging.getLogger("distributed.client")
        self._log.addFilter(self._is_unexpected)
        threading.Thread(target=self._connect, args=(address,), daemon=True).start()
        try:
            self._client = self._connected_client()
        except BaseException:
            self._is_over.set()  # makes the connecting thread give up
            self._log.removeFilter(self._is_unexpected)
            raise
        threading.Thread(target=self._watch, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        closing = threading.Thread(target=self._close, args=(self._client,), daemon=True)
        closing.start()
        closing.join(_CLOSING_SECONDS)
        self._log.removeFilter(self._is_unexpected)

    def wanted(self, graph: dict[Key, Any], keys: list[Key], priority_of: Callable[[Key], int]) -> list[Future]:
        """Let the cluster compute the results under `keys`; `graph` is a Dask graph.

        Higher priorities are computed first.
        """
        import dask

        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 GB"}):
            futures: list[Future] = self._client.get(graph, keys, sync=False, retries=_RETRIES, priority=priority_of)
        return futures

    def derived(self, function: Callable[..., Any], future: Future, *arguments: object) -> Future:
        """Let the cluster call a function with a result and some arguments."""
        derived: Future = self._client.submit(function, future, *arguments, pure=False, retries=_RETRIES)
        return derived

    def no_longer_wanted(self, futures: Iterable[Future]) -> None:
        """Let the cluster drop results that are no longer wanted; `results` must not be waiting for them."""
        self._client.cancel(list(futures), force=True)

    def results(self, futures: Iterable[Future]) -> Iterator[tuple[Key, Any] | None]:
        """Yield key and result of each as they arrive, and None many times a second in between."""
        waiting = self._distributed.as_completed(futures, loop=self._client.loop, with_results=True, raise_errors=False)
        while not waiting.is_empty():
            self.check()
            batch = waiting.next_batch(block=False)
            for future, result in batch:
                # A tuple has an error. The future itself may be pending again if its worker is gone.
                if isinstance(result, tuple | BaseException):
                    raise self._failure(result[1] if isinstance(result, tuple) else result)
                yield future.key, result
            if not batch:
                yield None
                time.sleep(_POLL_SECONDS)

    def check(self) -> None:
        """Raise if counting was stopped or cannot continue."""
        self.check_stop()
        if self._client.status != "running":
            raise self._lost()
        if self._alone_since is not None and time.monotonic() - self._alone_since > REPLACEMENT_SECONDS:
            raise self._error(
                "The scheduler {address} lost its last worker, along with the counts so far",
                "Start workers again (dask worker {address}), and count again.",
            )

    def _connect(self, address: str) -> None:
        """Pass a client, once it is ready, or an error to the waiting caller."""
        client: Client | None = None
        try:
            client = self._distributed.Client(address, timeout=CONNECTING_SECONDS, set_as_default=False)
            client.wait_for_workers(1, timeout=WORKERS_SECONDS)
            self._check_versions(client)
            self.threads = max(1, sum(client.nthreads().values()))
            if self._is_over.is_set():
                self._close(client)
            self._connected.put(client)
        except StudioError as error:
            self._connected.put(error)
        except Exception as error:  # an address can be wrong in many ways
            no_workers = client is not None and isinstance(error, TimeoutError)
            without_workers = self._error("The scheduler {address} has no workers", "Start some: dask worker {address}")
            self._connected.put(without_workers if no_workers else self._unreachable(error))
        else:
            return
        if client is not None:
            self._close(client)

    def _connected_client(self) -> Client:
        deadline = time.monotonic() + CONNECTING_SECONDS + WORKERS_SECONDS
        while time.monotonic() < deadline:
            self.check_stop()
            with contextlib.suppress(Empty):
                answer = self._connected.get(timeout=_POLL_SECONDS)
                if isinstance(answer, Exception):
                    raise answer
                return answer
        raise self._unreachable(TimeoutError("it does not respond like a Dask scheduler"))

    def _check_versions(self, client: Client) -> None:
        """Check that this version of the Studio runs everywhere; the scheduler too loads what tasks call."""
        found: dict[str, Any] = client.run(pkgutil.resolve_name, _VERSION, on_error="return")
        versions = [(_OF_WORKERS, worker, version) for worker, version in found.items()]
        try:
            of_scheduler: Any = client.run_on_scheduler(pkgutil.resolve_name, _VERSION)
        except ImportError as error:
            of_scheduler = error
        for (cannot_load, runs_another), address, version in [*versions, (_OF_SCHEDULER, self._address, of_scheduler)]:
            if isinstance(version, Exception):
                raise StudioError(
                    cannot_load,
                    "Install version {version} there from its folder or wheel; it is not on a package index.",
                    address=printable(address),
                    version=__version__,
                    reason=printable(str(version)),
                ) from version
            if version != __version__:
                raise StudioError(
                    runs_another,
                    "Install the same version everywhere, or the words might differ.",
                    address=printable(address),
                    other=printable(str(version)),
                    version=__version__,
                )

    def _watch(self) -> None:
        """Check until the end whether there are workers; the request can take long if the scheduler hangs."""
        while not self._is_over.wait(_WATCH_SECONDS):
            try:
                threads = sum(self._client.nthreads().values())
            except Exception:  # then the client's status shows it
                return
            if threads:
                self._alone_since = None
            elif self._alone_since is None:
                self._alone_since = time.monotonic()

    @staticmethod
    def _is_unexpected(record: logging.LogRecord) -> bool:
        was_cancelled = isinstance(record.msg, asyncio.CancelledError)  # closed while reconnecting
        return not was_cancelled and not str(record.msg).startswith(_EXPECTED_LOG)

    def _close(self, client: Client) -> None:
        with contextlib.suppress(Exception):  # nothing is lost with it now
            client.close(timeout=_CLOSING_SECONDS)

    def _failure(self, error: object) -> StudioError:
        """Return the error for a task without a result."""
        if isinstance(error, self._distributed.CancelledError):
            return self._lost()
        if isinstance(error, self._distributed.KilledWorker):
            return StudioError(
                "One part of the corpus killed {n} workers of the cluster, one after the other",
                "Increase the workers' memory: the system probably killed them because there was too little.",
                n=error.allowed_failures + 1,
            )
        if isinstance(error, MemoryError):
            return StudioError("A cluster worker ran out of memory", "Increase the workers' memory.")
        return StudioError(
            "A worker of the cluster failed: {reason}",
            "Look at its log. Python, Dask and WordPiece Studio must have the same versions everywhere.",
            reason=printable(f"{type(error).__name__}: {error}")[:500],
        )

    def _unreachable(self, error: Exception) -> StudioError:
        return self._error(
            "The scheduler {address} cannot be reached: {reason}",
            "Check the address that the scheduler prints when it starts, and that no firewall blocks it.",
            reason=printable(str(error)).rstrip(".") or type(error).__name__,
        )

    def _lost(self) -> StudioError:
        return self._error(
            "The connection to the scheduler {address} was lost, along with the counts so far",
            "Check whether the scheduler is still running, and count again.",
        )

    def _error(self, what: str, advice: str, **values: object) -> StudioError:
        return StudioError(what, advice, address=self._address, **values)
