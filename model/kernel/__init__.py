"""The native kernel: a protocol's terms compiled to machine code, and the loops that drive it."""

from fencepost.model.kernel.compiler.machine import Kernel

__all__ = ["Kernel"]
