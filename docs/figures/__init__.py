"""The book's figures: `python -m docs.figures` draws them into docs/images/; with names, only those."""
