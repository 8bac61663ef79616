"""A fitted model -> a dict of facts -> one page."""
