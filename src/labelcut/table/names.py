"""The names of our own columns, which a table may hold from an earlier audit; light to import."""

OUR_PREFIX = "labelcut_"
