"""Write the catalogue anew."""

from ._catalogue import write_catalogue

write_catalogue()
