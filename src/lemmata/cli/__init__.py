"""The command line, thin: it parses, calls, and prints."""

from lemmata.cli._app import main as main
