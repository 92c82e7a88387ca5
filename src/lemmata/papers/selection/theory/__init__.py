"""What the paper predicts: constants, bounds, and the laws that we found beside them."""
