"""What is declared on a server and cannot be meant: one rule a function, all of them in the table of `rules`."""
