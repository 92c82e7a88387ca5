"""Sequences in, structure out."""

from ._collocation import Collocation as Collocation
from ._collocation import find_collocation as find_collocation
from ._cyclic import cyclic_subdata as cyclic_subdata
from ._cyclic import label_positions as label_positions
from ._cyclic import tied_positions as tied_positions
from ._data import Sample as Sample
from ._data import Token as Token
from ._data import TokenData as TokenData
from ._embeddings import as_matrix as as_matrix
from ._embeddings import canonical_embeddings as canonical_embeddings
from ._embeddings import orthonormality_error as orthonormality_error
from ._embeddings import random_orthonormal_embeddings as random_orthonormal_embeddings
from ._embeddings import read_embeddings as read_embeddings
from ._files import read_token_files as read_token_files
from ._orders import PartialOrders as PartialOrders
from ._orders import Role as Role
from ._orders import partial_orders as partial_orders
from ._priority import PriorityGraph as PriorityGraph
from ._priority import priority_graphs as priority_graphs
from ._problems import Problem as Problem
from ._readers import Instance as Instance
from ._readers import read_instances as read_instances
