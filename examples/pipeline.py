"""A pipeline of three roles: a reader, workers, and a writer, each with its own part of the work.

    python examples/pipeline.py
    python -m dtl run -n 4 examples/pipeline.py

The reader takes a signal apart into blocks that overlap by half, the workers compute the power spectrum of each, and
the writer averages them (Welch, "The use of fast Fourier transform for the estimation of power spectra", 1967) and
prints the tones that stand out of the noise. On fewer than three ranks a rank has several roles.
"""

from __future__ import annotations

from typing import Any, Iterator

import numpy as np

import dtl

RATE = 8000  # samples a second
BLOCK = 400
TONES = {440.0: 0.5, 1200.0: 0.4, 3100.0: 0.35}  # Hz, and amplitude


def signal() -> np.ndarray:
    """Return ten seconds of three tones in noise."""
    seconds = np.arange(10 * RATE) / RATE
    noise = np.random.RandomState(7).randn(len(seconds))
    return sum(size * np.sin(2 * np.pi * tone * seconds) for tone, size in TONES.items()) + 0.3 * noise


def blocks(samples: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the blocks, each half a block after the one before."""
    for first in range(0, len(samples) - BLOCK + 1, BLOCK // 2):
        yield samples[first : first + BLOCK]


def power(block: np.ndarray) -> np.ndarray:
    """Return the power of each frequency in a block."""
    return np.abs(np.fft.rfft(block * np.hanning(BLOCK))) ** 2


def roles(ctx: dtl.Context) -> dtl.RoleManager:
    """Return who does what: the first rank reads, the last one writes, those between them work. Collective."""
    mgr = dtl.RoleManager(ctx)
    mgr.add_role("reader", 1)
    mgr.add_role("worker", lambda rank, size: 0 < rank < size - 1 or (size < 3 and rank == size - 1))
    mgr.add_role("writer", lambda rank, size: rank == size - 1)
    mgr.initialize()
    return mgr


def run(mgr: dtl.RoleManager, samples: np.ndarray | None) -> np.ndarray | None:
    """Send the reader's samples through the pipeline; return the mean power of each frequency on the writer."""
    reads, works, writes = (mgr.has_role(role) for role in ("reader", "worker", "writer"))
    count: Any = None if samples is None else len(list(blocks(samples)))
    for role in ("worker", "writer"):
        if reads or mgr.has_role(role):
            count = dtl.intergroup_broadcast(mgr, ("reader", 0), role, count)
    source = iter(()) if samples is None else blocks(samples)
    workers = mgr.role_size("worker")
    total = np.zeros(BLOCK // 2 + 1)
    for first in range(0, count, workers):  # in each round a block for each worker, as far as there are any
        busy = range(min(workers, count - first))
        if reads and not works:
            for worker in busy:
                dtl.intergroup_send(mgr, "worker", worker, next(source))
        spectrum = np.zeros_like(total)
        if works and mgr.role_rank("worker") in busy:  # alone, a rank sends itself nothing
            spectrum = power(next(source) if reads else dtl.intergroup_recv(mgr, "reader", 0))
        if works or writes:
            spectra = dtl.intergroup_gather(mgr, ("writer", 0), "worker", spectrum)
            if spectra is not None:  # on the writer
                total += spectra.sum(axis=0)
    return total / count if writes else None


def main() -> None:
    """Print the loudest frequencies."""
    with dtl.Context() as ctx, roles(ctx) as mgr:
        mean = run(mgr, signal() if mgr.has_role("reader") else None)
        if mean is not None:
            loudest = np.sort(np.argsort(mean)[-len(TONES) :]) * RATE / BLOCK
            print("tones at " + ", ".join(f"{tone:.0f} Hz" for tone in loudest))


if __name__ == "__main__":
    main()
