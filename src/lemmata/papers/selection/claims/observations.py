"""Section 4 and Appendix F: what the figures and their captions say."""
