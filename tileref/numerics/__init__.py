"""Exact arithmetic on numpy arrays, knowing nothing of the IR."""

from .conversion import bitcast, ftof, ftoi, itof, pack, unpack
from .float_arithmetic import absf, addf, divf, fma, mulf, negf, sqrt, subf
from .float_compare import cmpf, maxf, minf
from .formats import BF16, F16, F32, F64, FORMATS, FloatFormat, IntegerFormat, Rounding
from .integer import exti, trunci
from .integral import ceil, floor
from .math.arc_tangent import atan2
from .math.exponential import exp, exp2
from .math.hyperbolic import cosh, sinh, tanh
from .math.logarithm import log, log2
from .math.power import pow
from .math.root import rsqrt
from .math.trigonometric import cos, sin, tan
from .powi import fpowi
from .remainder import remf

__all__ = [
    "BF16",
    "F16",
    "F32",
    "F64",
    "FORMATS",
    "FloatFormat",
    "IntegerFormat",
    "Rounding",
    "absf",
    "addf",
    "atan2",
    "bitcast",
    "ceil",
    "cmpf",
    "cos",
    "cosh",
    "divf",
    "exp",
    "exp2",
    "exti",
    "floor",
    "fma",
    "fpowi",
    "ftof",
    "ftoi",
    "itof",
    "log",
    "log2",
    "maxf",
    "minf",
    "mulf",
    "negf",
    "pack",
    "pow",
    "remf",
    "rsqrt",
    "sin",
    "sinh",
    "sqrt",
    "subf",
    "tan",
    "tanh",
    "trunci",
    "unpack",
]
