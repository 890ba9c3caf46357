"""Given parts of the GPU back end that you can skip."""
