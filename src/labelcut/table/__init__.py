"""A file or a data frame <-> a table of rows, labels and columns -> a matrix of numbers."""
