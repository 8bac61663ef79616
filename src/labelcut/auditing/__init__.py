"""A table -> an audit: the model asked, the suspects told, the page written."""
