"""Write the catalogue anew."""

from lemmata.papers._catalogue import write_catalogue

write_catalogue()
