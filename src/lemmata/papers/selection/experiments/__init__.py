"""The experiments behind the claims and figures: named recipes that turn a bench into evidence.

``descents`` has the two-scalar dynamics and the random encodings behind it, ``states`` a grid of
its states, ``late`` long descents, and ``matrices`` gradients and descent with every entry free;
``networks``, ``fractions``, ``construction`` and ``separation`` are about Section 3.3 and
Appendix C; ``runs`` (online training), ``heat_maps`` and ``ensembles`` about Section 4 and
Appendix F.

Everything that needs arrays on a device is imported when an experiment runs, so that claims can be
listed at once.
"""
