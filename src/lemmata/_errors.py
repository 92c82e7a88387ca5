"""The one error that a user is meant to see."""


class InputError(ValueError):
    """Something the user gave cannot be used; the message says what, where and what to do."""
