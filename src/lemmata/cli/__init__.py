"""The command line, thin: it parses, calls, and prints."""

from ._app import main as main
