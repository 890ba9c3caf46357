"""What tests share: random cases as plain data, and judges. A folder a milestone; the files here serve several."""
