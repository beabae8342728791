"""Sets of element types that declarations name. ``POINTER`` stands for a pointer to anything."""

from __future__ import annotations

from ..declare import Elements

POINTER = "ptr"

BOOL: Elements = frozenset({"i1"})
I8: Elements = frozenset({"i8"})
I32: Elements = frozenset({"i32"})
I64: Elements = frozenset({"i64"})
INTEGER: Elements = frozenset({"i1", "i8", "i16", "i32", "i64"})
"""Integers that arithmetic is defined on; i4 is storage alone."""
ANY_INTEGER: Elements = INTEGER | {"i4"}
FLOAT: Elements = frozenset({"f16", "bf16", "f32", "f64"})
"""Floats that arithmetic is defined on."""
ANY_FLOAT: Elements = FLOAT | {"tf32", "f8E4M3FN", "f8E5M2", "f8E8M0FNU", "f4E2M1FN"}
NUMBER: Elements = ANY_INTEGER | ANY_FLOAT
POINTERS: Elements = frozenset({POINTER})
ANY: Elements = NUMBER | POINTERS
