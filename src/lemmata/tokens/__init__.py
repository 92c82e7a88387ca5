"""Sequences in, structure out."""

from lemmata.tokens._collocation import Collocation as Collocation
from lemmata.tokens._collocation import find_collocation as find_collocation
from lemmata.tokens._cyclic import cyclic_subdata as cyclic_subdata
from lemmata.tokens._cyclic import label_positions as label_positions
from lemmata.tokens._cyclic import tied_positions as tied_positions
from lemmata.tokens._data import Sample as Sample
from lemmata.tokens._data import Token as Token
from lemmata.tokens._data import TokenData as TokenData
from lemmata.tokens._embeddings import as_matrix as as_matrix
from lemmata.tokens._embeddings import canonical_embeddings as canonical_embeddings
from lemmata.tokens._embeddings import orthonormality_error as orthonormality_error
from lemmata.tokens._embeddings import (
    random_orthonormal_embeddings as random_orthonormal_embeddings,
)
from lemmata.tokens._embeddings import read_embeddings as read_embeddings
from lemmata.tokens._files import read_token_files as read_token_files
from lemmata.tokens._orders import PartialOrders as PartialOrders
from lemmata.tokens._orders import Role as Role
from lemmata.tokens._orders import partial_orders as partial_orders
from lemmata.tokens._priority import PriorityGraph as PriorityGraph
from lemmata.tokens._priority import priority_graphs as priority_graphs
from lemmata.tokens._problems import Problem as Problem
from lemmata.tokens._readers import Instance as Instance
from lemmata.tokens._readers import read_instances as read_instances
