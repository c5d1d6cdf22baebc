"""Modules, layers, losses and a small GPT, written one number at a time so that they can be read."""

from .gpt import GPT, Block
from .layers import MLP, Embedding, Layer, Linear, Neuron, RMSNorm
from .losses import cross_entropy, hinge, softmax
from .module import Module

__all__ = [
    "GPT",
    "MLP",
    "Block",
    "Embedding",
    "Layer",
    "Linear",
    "Module",
    "Neuron",
    "RMSNorm",
    "cross_entropy",
    "hinge",
    "softmax",
]
