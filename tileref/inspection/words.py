"""What the command line says of inspections."""

WORDS = """\b
A selection (for --trace, --watch, --break, --probe) is words with spaces
between them; words of one kind widen it, kinds narrow each other:
  mulf  load_*             operations, by name or pattern
  %17  %iterArg*           values, by the names that `tileir dis` prints
  file.py:123  :120-130    source lines
  block=3  block=0-7       blocks by number
  block=3,0,0  block=*,0-3,0   or by coordinates
  iteration=5  iteration=2,0-3   of the innermost loop, or of each around
  nan  inf  undefined      values with such a lane
  changed                  values with other bits than the last time
  >1e4  abs>=2  >0&<1      values with a lane in the range
  differs=FILE.npz         values other than a probe wrote to FILE.npz, FILE.npy
                           or FOLDER/
  first  first=10          only the first match, or so many
  bodies                   also in bodies of reductions and scans
  !constant  !%3  !:40     not these
"""
"""The language of selections, for ``--help``; see ``where``."""
LINTS = ("lost-addend",)
"""The lints there are."""
