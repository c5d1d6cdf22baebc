"""Fusion of kernel calls: the loops of one strip, and what stands around a contraction. It knows kernel calls and what
memory they access, and emits loops."""
