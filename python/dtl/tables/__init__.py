"""Tables: rows of Arrow's columns, of which each rank has some, as users of pandas know them."""
