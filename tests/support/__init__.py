"""Code that tests share: random cases as plain data, and judges; a folder for each milestone."""
