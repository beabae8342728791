"""The judge stage: what each case must answer, and whether the GPU did. Needs neither assembler nor GPU."""

from .stage import judge_folder
from .verdict import Difference, Verdict

__all__ = ["Difference", "Verdict", "judge_folder"]
