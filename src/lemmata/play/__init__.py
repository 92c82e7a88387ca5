"""A page to play with, in the browser: type, train, watch, attack.

The process that serves it computes nothing and loads no JAX: work is done by processes of their
own (``_worker``), so that compiling never keeps a page waiting. Nothing here knows a paper.
"""

from ._serve import serve as serve
