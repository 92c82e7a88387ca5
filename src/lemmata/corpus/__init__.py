"""A whole corpus: graphs and exact limits of every last token, in a store that can be asked."""

from ._build import Reading as Reading
from ._build import build as build
from ._corpus import Corpus as Corpus
from ._corpus import is_store as is_store
from ._highlights import Found as Found
from ._highlights import Highlights as Highlights
from ._query import Choice as Choice
from ._query import Fact as Fact
from ._query import Place as Place
from ._query import Query as Query
from ._training import CorpusRun as CorpusRun
from ._training import CorpusTraining as CorpusTraining
from ._training import Scores as Scores
from ._training import train_corpus as train_corpus
from ._wording import describe_choice as describe_choice
from ._wording import describe_corpus as describe_corpus
from ._wording import describe_query as describe_query
