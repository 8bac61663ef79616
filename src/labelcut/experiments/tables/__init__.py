"""Result lines -> tables, one module per thing shown. Nothing is computed but means and tests."""
