"""The numbers of the VERA paper, as printed there. They are in `bench/paper/values.csv` and nowhere else."""

from pathlib import Path

from bench.judging.reference import PaperValues

PAPER = PaperValues(Path(__file__).with_name("values.csv"))
