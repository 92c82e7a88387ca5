"""The experiments behind the claims and figures: values that a bench turns into evidence.

``plans`` has the plans they look at. ``encodings`` are random ones, ``descents`` the two-scalar
dynamics, ``states`` a grid of its states, ``settled`` those at the end, ``long_descents`` late
training, and ``matrices`` gradients and descent with every entry free; ``networks``, ``fractions``,
``construction`` and ``separation`` are about Section 3.3 and Appendix C; ``runs`` (online
training), ``mean_fields``, ``endings`` (what is read off the runs), ``switched_encodings``,
``heat_maps`` and ``ensembles`` about Section 4 and Appendix F.
"""
