"""Modules, layers, losses and a small GPT, written one number at a time so that they can be read."""

from typing import TYPE_CHECKING, NoReturn

from ..habits import NN, elsewhere
from .gpt import GPT, Block
from .layers import MLP, Embedding, Layer, Linear, Neuron, RMSNorm
from .losses import cross_entropy, hinge, softmax
from .module import Module
from .sequential import GELU, Activation, ReLU, Sequential, Sigmoid, SiLU, Softplus, Tanh

__all__ = [
    "GELU",
    "GPT",
    "MLP",
    "Activation",
    "Block",
    "Embedding",
    "Layer",
    "Linear",
    "Module",
    "Neuron",
    "RMSNorm",
    "ReLU",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "Softplus",
    "Tanh",
    "cross_entropy",
    "hinge",
    "softmax",
]

if not TYPE_CHECKING:  # a type checker would believe that every name exists

    def __getattr__(name: str) -> NoReturn:
        raise elsewhere("module 'retrograd.nn'", name, NN)
