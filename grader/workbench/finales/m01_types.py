"""Your rules give every expression its type, as in real Triton. This table has the types of sums."""

from mini_triton.language.dtypes import bfloat16, float16, float32, int8, int32, promote, promote_literal, uint8, uint32

DTYPES = (int8, uint8, int32, uint32, float16, bfloat16, float32)

print(f"{'+':<8}" + "".join(f"{dtype.name:<8}" for dtype in DTYPES))
for x in DTYPES:
    print(f"{x.name:<8}" + "".join(f"{promote(x, y).name:<8}" for y in DTYPES))
print(f"\nx + 0.5, for an int8 tensor x:  {promote_literal(int8, 0.5).name}")
try:
    promote_literal(int8, 300)
except ValueError as error:
    print(f"x + 300, for an int8 tensor x:  ValueError: {error}")
