"""Constants of the NCCL interface."""

from __future__ import annotations

from .runtime.nccl import Mode, Operation

__all__ = ["Mode", "Operation"]
