"""The dialect's mathematical functions, correctly rounded to nearest even.

For each operand the result is the number of the format nearest to the true value, in f16, bf16, f32 and f64,
whatever the processor, numpy's version or its C library. ``pow`` is the dialect's fpowf.
"""

from tileref.numerics.math.arc_tangent import atan2
from tileref.numerics.math.exponential import exp, exp2
from tileref.numerics.math.hyperbolic import cosh, sinh, tanh
from tileref.numerics.math.logarithm import log, log2
from tileref.numerics.math.power import pow
from tileref.numerics.math.root import rsqrt
from tileref.numerics.math.trigonometric import cos, sin, tan

__all__ = ["atan2", "cos", "cosh", "exp", "exp2", "log", "log2", "pow", "rsqrt", "sin", "sinh", "tan", "tanh"]
