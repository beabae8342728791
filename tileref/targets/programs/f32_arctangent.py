"""atan2 in f32."""

from __future__ import annotations

import numpy as np

from ...formats import Array
from ...numerics.formats import F32
from .lanewise import fma, polynomial, program

f32 = np.float32

FACTOR, OF_HALF_PI, OF_PI = f32(1.6832555532455444), f32(0.9331894516944885), f32(1.8663789033889771)
"""pi / 2 and pi, as products that a fused multiply-add takes unrounded."""
QUARTER_PI, THREE_QUARTERS_PI, PI = f32(0.7853981852531433), f32(2.356194496154785), f32(3.1415927410125732)


@program("atan2", F32)
def atan2(y: Array, x: Array) -> Array:
    """The arctangent of the smaller by the larger, and the octant's part."""
    height, width = np.abs(y), np.abs(x)
    steep = height > width
    larger, smaller = np.where(steep, height, width), np.where(steep, width, height)
    ratio = smaller / larger
    square = ratio * ratio
    series = polynomial(
        square,
        *(0.0027380611281841993, -0.015681877732276917, 0.04220075160264969, -0.07479298114776611),
        *(0.1064041554927826, -0.1420772224664688, 0.19993925094604492, -0.33333197236061096),
    )
    angle = fma(square * series, ratio, ratio)
    right = np.where(steep, fma(OF_HALF_PI, FACTOR, -angle), angle)
    left = fma(np.where(steep, OF_HALF_PI, OF_PI), FACTOR, np.where(steep, angle, -angle))
    behind = np.signbit(x)
    result = np.where(behind, left, right)
    result = np.where(height == width, np.where(behind, THREE_QUARTERS_PI, QUARTER_PI), result)
    result = np.where(larger == 0, np.where(behind, PI, f32(0)), result)
    total = height + width
    return np.where(np.isnan(total), total, np.copysign(result, y))
