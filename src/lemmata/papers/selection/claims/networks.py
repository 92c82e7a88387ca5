"""Section 3.3 and Appendix C: what fully connected nets cannot do, and a transformer can."""
