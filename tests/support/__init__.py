"""Code that tests share: random cases as plain data, and judges. Each milestone has a folder."""
