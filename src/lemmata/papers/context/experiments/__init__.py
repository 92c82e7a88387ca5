"""The experiments behind the claims: what is looked at, shared by claims and figures.

``plans`` has the tasks that everything is checked on; ``points`` random weights on them, for
identities and inequalities; ``prompts`` drawn labels, ``posterior`` what Bayes makes of them;
``initialization`` how zeta_0 depends on heads and tokens; ``descents`` gradient descent at the
theory's rates, ``inference`` prompts after it, ``stability`` larger steps; ``heads`` how few heads
do; ``ridge`` the sweep over N of Figure 3; ``training`` the one-layer runs of Figures 2 and 4, and
``deep`` those of the 4-layer transformer.
"""
