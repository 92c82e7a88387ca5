"""Lemmata: a laboratory for the training dynamics of one-layer transformers.

Data flows one way through the rooms of this package:
tokens -> margin -> attention -> training -> claims -> drawing -> papers -> report -> cli.
"""

__version__ = "0.1.0"
