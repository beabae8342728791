"""Integer operations at every width of the dialect, wrapping, with undefined lanes marked.

Each function is named after the dialect's operation and answers ``(result, undefined)``: a fresh array of
the format's storage type in the broadcast shape of the operands, and either None (no lane is undefined) or
a bool array of that shape, True where the dialect gives no answer. A marked lane holds a harmless value that
its function documents; nobody may compare it. ``cmpi`` alone answers a bare bool array.

Operands are never modified, no numpy warning or exception depends on their values, and shapes are free.
An i1 is a number modulo 2: its unsigned readings are 0 and 1, its signed readings 0 and -1.
"""

from tileref.numerics.integer.arithmetic import OVERFLOW, absi, addi, mulhii, muli, negi, subi
from tileref.numerics.integer.bitwise import andi, ori, shli, shri, xori
from tileref.numerics.integer.comparison import PREDICATES, cmpi, maxi, mini
from tileref.numerics.integer.division import DIVISION_ROUNDINGS, divi, remi
from tileref.numerics.integer.width import exti, trunci

__all__ = [
    "DIVISION_ROUNDINGS",
    "OVERFLOW",
    "PREDICATES",
    "absi",
    "addi",
    "andi",
    "cmpi",
    "divi",
    "exti",
    "maxi",
    "mini",
    "mulhii",
    "muli",
    "negi",
    "ori",
    "remi",
    "shli",
    "shri",
    "subi",
    "trunci",
    "xori",
]
