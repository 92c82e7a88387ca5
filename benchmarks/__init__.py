"""How long Lemmata takes, as ratios against what one would otherwise write.

``python -m benchmarks`` measures everything in one process and prints one table. Absolute times
depend on the machine and on what else it is doing; the ratios are what to compare.
"""
