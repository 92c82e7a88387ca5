"""Adam in ball arithmetic, for replays of any setting."""

from flint import arb, arb_mat


class BallAdam:
    """Kingma and Ba's rule with its usual constants, entry by entry of one matrix."""

    FIRST, SECOND, ADDED = 0.9, 0.999, 1e-8

    def __init__(self, rows: int, columns: int) -> None:
        self._mean, self._square = arb_mat(rows, columns), arb_mat(rows, columns)
        self._steps = 0

    def move(self, slope: arb_mat) -> arb_mat:
        """The mean of gradients over the root of the mean of their squares, both unbiased."""
        self._steps += 1
        first, second = arb(self.FIRST), arb(self.SECOND)
        move = arb_mat(slope.nrows(), slope.ncols())
        self._mean = self._mean * first + slope * (1 - first)
        for i in range(slope.nrows()):
            for j in range(slope.ncols()):
                self._square[i, j] = second * self._square[i, j] + (1 - second) * slope[i, j] ** 2
                root = (self._square[i, j] / (1 - second**self._steps)).sqrt()
                move[i, j] = self._mean[i, j] / (1 - first**self._steps) / (root + self.ADDED)
        return move
