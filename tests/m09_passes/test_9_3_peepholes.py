"""Task 9.3: folding and peepholes simplify small functions at least as far as real Triton's passes."""

from __future__ import annotations

import functools

import pytest
from mini_triton.ir.core import Operation
from mini_triton.ir.printer import print_module
from mini_triton.ir.types import F16, F32, I1, I8, I32, TensorType
from mini_triton.transforms import peepholes
from mini_triton.transforms.folding import FOLDING

from tests.checks import described
from tests.support.m09_passes.rewrites import rewriting
from tests.support.m09_passes.snippets import Snippet, functions, left_by_triton, patterns, size

INTEGERS = patterns(
    """
    arith.addi(x, 0)
    arith.addi(0, x)
    arith.subi(x, 0)
    arith.ori(x, 0)
    arith.xori(0, x)
    arith.shli(x, 0)
    arith.shrsi(x, 0)
    arith.shrui(x, 0)
    arith.muli(x, 1)
    arith.muli(1, x)
    arith.divsi(x, 1)
    arith.divui(x, 1)
    arith.floordivsi(x, 1)
    arith.ceildivsi(x, 1)
    arith.remsi(x, 1)
    arith.remui(x, 1)
    arith.muli(x, 0)
    arith.andi(0, x)
    arith.andi(x, -1)
    arith.ori(x, -1)
    arith.maxui(x, 0)
    arith.maxui(x, -1)
    arith.minui(x, 0)
    arith.minui(-1, x)
    arith.subi(x, x)
    arith.xori(x, x)
    arith.andi(x, x)
    arith.ori(x, x)
    arith.maxsi(x, x)
    arith.minsi(x, x)
    arith.maxui(x, x)
    arith.minui(x, x)
    arith.subi(arith.addi(x, y), y)
    arith.subi(arith.addi(y, x), y)
    arith.addi(arith.subi(x, y), y)
    arith.addi(y, arith.subi(x, y))
    arith.subi(arith.subi(x, y), x)
    arith.xori(arith.xori(x, y), y)
    arith.xori(arith.xori(y, x), y)
    arith.xori(y, arith.xori(x, y))
    arith.xori(y, arith.xori(y, x))
    arith.andi(arith.andi(x, y), y)
    arith.ori(y, arith.ori(y, x)) -> 1
    arith.andi(x, arith.xori(x, -1))
    arith.ori(x, arith.xori(x, -1))
    arith.ori(arith.xori(x, -1), x)
    arith.xori(x, arith.xori(x, -1))
    arith.addi(arith.addi(x, 5), 7)
    arith.addi(7, arith.addi(5, x))
    arith.addi(arith.subi(x, 5), 7)
    arith.addi(arith.subi(5, x), 7)
    arith.subi(arith.addi(x, 5), 7)
    arith.subi(arith.subi(x, 5), 7)
    arith.subi(arith.subi(5, x), 7)
    arith.subi(7, arith.addi(x, 5))
    arith.subi(7, arith.subi(x, 5))
    arith.subi(7, arith.subi(5, x))
    arith.muli(arith.muli(x, 5), 7)
    arith.andi(arith.andi(x, 5), 7) -> 1
    arith.ori(arith.ori(x, 5), 7) -> 1
    arith.xori(7, arith.xori(x, 5)) -> 1
    arith.maxsi(arith.maxsi(x, 5), 7) -> 1
    arith.minsi(arith.minsi(x, 5), 7) -> 1
    arith.maxui(arith.maxui(x, 5), 7) -> 1
    arith.minui(arith.minui(x, 5), 7) -> 1
    arith.addi(arith.muli(arith.addi(arith.addi(x, 3), -3), 1), arith.subi(y, y))
    """,
    I32,
    TensorType((4,), I8),
)
COMPARISONS = patterns(
    """
    arith.cmpi.eq(x, x)
    arith.cmpi.ne(x, x)
    arith.cmpi.slt(x, x)
    arith.cmpi.sle(x, x)
    arith.cmpi.sgt(x, x)
    arith.cmpi.sge(x, x)
    arith.cmpi.ult(x, x)
    arith.cmpi.ule(x, x)
    arith.cmpi.ugt(x, x)
    arith.cmpi.uge(x, x)
    arith.cmpi.ult(x, 0) -> 0
    arith.cmpi.uge(x, 0) -> 0
    arith.cmpi.ugt(0, x) -> 0
    arith.cmpi.ule(0, x) -> 0
    arith.cmpi.ne(x, false)
    arith.cmpi.eq(x, true)
    arith.cmpi.eq(true, x)
    arith.cmpi.eq(x, false)
    arith.cmpi.ne(x, true)
    arith.xori(arith.cmpi.eq(x, y), true)
    arith.xori(arith.cmpi.ne(x, y), true)
    arith.xori(arith.cmpi.slt(x, y), true)
    arith.xori(arith.cmpi.sle(x, y), true)
    arith.xori(arith.cmpi.sgt(x, y), true)
    arith.xori(arith.cmpi.sge(x, y), true)
    arith.xori(arith.cmpi.ult(x, y), true)
    arith.xori(arith.cmpi.ule(x, y), true)
    arith.xori(arith.cmpi.ugt(x, y), true)
    arith.xori(arith.cmpi.uge(x, y), true)
    arith.select(c, true, false)
    arith.select(c, false, true)
    """,
    I1,
    TensorType((4,), I1),
)
COMPARISONS += patterns(
    """
    arith.select(true, x, y)
    arith.select(false, x, y)
    arith.select(c, x, x)
    arith.select(arith.xori(c, true), x, y)
    arith.select(c, arith.select(c, x, y), z)
    arith.select(c, z, arith.select(c, x, y))
    arith.select(c, arith.select(d, x, y), z)
    """,
    F32,
    TensorType((4,), I8),
)
COMPARISONS += functions(
    """
    widened unsigned: %c: i1
    %zero = arith.constant 0 : i32
    %wide = arith.extui %c : i1 to i32
    %out = arith.cmpi ne, %wide, %zero : i32
    tt.return %out : i1

    widened signed: %c: tensor<4xi1>
    %zero = arith.constant dense<0> : tensor<4xi8>
    %wide = arith.extsi %c : tensor<4xi1> to tensor<4xi8>
    %out = arith.cmpi ne, %wide, %zero : tensor<4xi8>
    tt.return %out : tensor<4xi1>
    """
)
FLOATS = patterns(
    """
    arith.addf(x, -0.0)
    arith.addf(x, 0.0)
    arith.subf(x, 0.0)
    arith.subf(x, -0.0)
    arith.mulf(x, 1.0)
    arith.mulf(x, 0.0)
    arith.mulf(x, -1.0)
    arith.divf(x, 1.0)
    arith.subf(x, x)
    arith.divf(x, x)
    arith.negf(arith.negf(x))
    arith.subf(-0.0, arith.subf(-0.0, x)) -> 0
    arith.subf(0.0, arith.subf(0.0, x))
    arith.maximumf(x, x)
    arith.minimumf(x, x)
    arith.maxnumf(x, x)
    arith.minnumf(x, x)
    arith.addf(arith.addf(x, 0.3), 2.5)
    arith.mulf(arith.mulf(x, 0.3), 2.5)
    arith.mulf(arith.negf(x), arith.negf(y))
    arith.divf(arith.negf(x), arith.negf(y))
    arith.addf(arith.subf(x, y), y)
    """,
    F32,
    TensorType((4,), F16),
)
MATRIX = "tensor<16x16xf32>"
FLOATS += functions(
    f"""
    product plus something: %a: {MATRIX}, %b: {MATRIX}, %c: {MATRIX}
    %zero = arith.constant dense<0.0> : {MATRIX}
    %product = tt.dot %a, %b, %zero : {MATRIX} * {MATRIX} -> {MATRIX}
    %out = arith.addf %product, %c : {MATRIX}
    tt.return %out : {MATRIX}

    something plus product: %a: {MATRIX}, %b: {MATRIX}, %c: {MATRIX}
    %zero = arith.constant dense<0.0> : {MATRIX}
    %product = tt.dot %a, %b, %zero : {MATRIX} * {MATRIX} -> {MATRIX}
    %out = arith.addf %c, %product : {MATRIX}
    tt.return %out : {MATRIX}
    """
)
CASTS = functions(
    """
    bitcast to the same type: %x: f32
    %out = tt.bitcast %x : f32 -> f32
    tt.return %out : f32

    bitcast and back: %x: f32 -> 0
    %bits = tt.bitcast %x : f32 -> i32
    %out = tt.bitcast %bits : i32 -> f32
    tt.return %out : f32

    bitcast of a bitcast: %p: !tt.ptr<f32> -> 1
    %q = tt.bitcast %p : !tt.ptr<f32> -> !tt.ptr<i32>
    %r = tt.bitcast %q : !tt.ptr<i32> -> !tt.ptr<i8>
    tt.return %r : !tt.ptr<i8>

    an address and back: %p: !tt.ptr<f32> -> 0
    %n = tt.ptr_to_int %p : !tt.ptr<f32> -> i64
    %q = tt.int_to_ptr %n : i64 -> !tt.ptr<f32>
    tt.return %q : !tt.ptr<f32>

    an address as another pointer: %p: !tt.ptr<f32>
    %n = tt.ptr_to_int %p : !tt.ptr<f32> -> i64
    %q = tt.int_to_ptr %n : i64 -> !tt.ptr<i8>
    tt.return %q : !tt.ptr<i8>

    a pointer and back: %n: i64 -> 0
    %p = tt.int_to_ptr %n : i64 -> !tt.ptr<f32>
    %m = tt.ptr_to_int %p : !tt.ptr<f32> -> i64
    tt.return %m : i64

    narrower and narrower: %x: i64
    %a = arith.trunci %x : i64 to i32
    %b = arith.trunci %a : i32 to i8
    tt.return %b : i8

    wider and wider, signed: %x: tensor<4xi8>
    %a = arith.extsi %x : tensor<4xi8> to tensor<4xi16>
    %b = arith.extsi %a : tensor<4xi16> to tensor<4xi64>
    tt.return %b : tensor<4xi64>

    wider and wider, unsigned: %x: i8
    %a = arith.extui %x : i8 to i16
    %b = arith.extui %a : i16 to i64
    tt.return %b : i64

    wider unsigned, then signed: %x: i8
    %a = arith.extui %x : i8 to i16
    %b = arith.extsi %a : i16 to i64
    tt.return %b : i64

    wider signed, then unsigned: %x: i8
    %a = arith.extsi %x : i8 to i16
    %b = arith.extui %a : i16 to i64
    tt.return %b : i64

    wider and wider floats: %x: f16 -> 1
    %a = arith.extf %x : f16 to f32
    %b = arith.extf %a : f32 to f64
    tt.return %b : f64

    wider and back: %x: i8
    %a = arith.extsi %x : i8 to i32
    %b = arith.trunci %a : i32 to i8
    tt.return %b : i8

    wider and back, unsigned: %x: i1
    %a = arith.extui %x : i1 to i32
    %b = arith.trunci %a : i32 to i1
    tt.return %b : i1

    wider and half the way back: %x: i8
    %a = arith.extui %x : i8 to i64
    %b = arith.trunci %a : i64 to i16
    tt.return %b : i16

    wider and more than back: %x: i16
    %a = arith.extsi %x : i16 to i64
    %b = arith.trunci %a : i64 to i8
    tt.return %b : i8

    wider floats and back: %x: tensor<4xf16>
    %a = arith.extf %x : tensor<4xf16> to tensor<4xf32>
    %b = arith.truncf %a : tensor<4xf32> to tensor<4xf16>
    tt.return %b : tensor<4xf16>

    wider floats and another format: %x: f16
    %a = arith.extf %x : f16 to f32
    %b = arith.truncf %a : f32 to bf16
    tt.return %b : bf16

    narrower floats and back: %x: f32
    %a = arith.truncf %x : f32 to f16
    %b = arith.extf %a : f16 to f32
    tt.return %b : f32

    narrower and narrower floats: %x: f64
    %a = arith.truncf %x : f64 to f32
    %b = arith.truncf %a : f32 to f16
    tt.return %b : f16

    narrower and back: %x: i32
    %a = arith.trunci %x : i32 to i8
    %b = arith.extsi %a : i8 to i32
    tt.return %b : i32

    bits of widened integers: %x: i1, %y: i1
    %a = arith.extui %x : i1 to i32
    %b = arith.extui %y : i1 to i32
    %c = arith.andi %a, %b : i32
    tt.return %c : i32
    """
)
T = "tensor<2x4xf32>"
SHAPES = functions(
    f"""
    transpose of nothing: %x: {T}
    %a = tt.trans %x {{order = array<i32: 0, 1>}} : {T} -> {T}
    tt.return %a : {T}

    transpose and back: %x: {T}
    %a = tt.trans %x {{order = array<i32: 1, 0>}} : {T} -> tensor<4x2xf32>
    %b = tt.trans %a {{order = array<i32: 1, 0>}} : tensor<4x2xf32> -> {T}
    tt.return %b : {T}

    transpose of a transpose: %x: tensor<2x4x8xf32>
    %a = tt.trans %x {{order = array<i32: 1, 2, 0>}} : tensor<2x4x8xf32> -> tensor<4x8x2xf32>
    %b = tt.trans %a {{order = array<i32: 0, 2, 1>}} : tensor<4x8x2xf32> -> tensor<4x2x8xf32>
    tt.return %b : tensor<4x2x8xf32>

    reshape to the same shape: %x: {T}
    %a = tt.reshape %x : {T} -> {T}
    tt.return %a : {T}

    reshape and back: %x: {T}
    %a = tt.reshape %x : {T} -> tensor<8xf32>
    %b = tt.reshape %a : tensor<8xf32> -> {T}
    tt.return %b : {T}

    reshape of a reshape: %x: {T}
    %a = tt.reshape %x : {T} -> tensor<8xf32>
    %b = tt.reshape %a : tensor<8xf32> -> tensor<4x2xf32>
    tt.return %b : tensor<4x2xf32>

    reshape in any order: %x: {T}
    %a = tt.reshape %x allow_reorder : {T} -> tensor<8xf32>
    %b = tt.reshape %a : tensor<8xf32> -> tensor<4x2xf32>
    tt.return %b : tensor<4x2xf32>

    broadcast to the same shape: %x: {T}
    %a = tt.broadcast %x : {T} -> {T}
    tt.return %a : {T}

    broadcast of a broadcast: %x: tensor<1x1xf32>
    %a = tt.broadcast %x : tensor<1x1xf32> -> tensor<2x1xf32>
    %b = tt.broadcast %a : tensor<2x1xf32> -> {T}
    tt.return %b : {T}

    broadcast of a splat: %x: f32
    %a = tt.splat %x : f32 -> tensor<2x1xf32>
    %b = tt.broadcast %a : tensor<2x1xf32> -> {T}
    tt.return %b : {T}

    reshape of a splat: %x: f32
    %a = tt.splat %x : f32 -> tensor<8xf32>
    %b = tt.reshape %a : tensor<8xf32> -> {T}
    tt.return %b : {T}

    transpose of a splat: %x: f32 -> 1
    %a = tt.splat %x : f32 -> tensor<4x2xf32>
    %b = tt.trans %a {{order = array<i32: 1, 0>}} : tensor<4x2xf32> -> {T}
    tt.return %b : {T}

    expanded splat: %x: f32
    %a = tt.splat %x : f32 -> tensor<8xf32>
    %b = tt.expand_dims %a {{axis = 0 : i32}} : tensor<8xf32> -> tensor<1x8xf32>
    tt.return %b : tensor<1x8xf32>

    expanded broadcast: %x: tensor<1xf32>
    %a = tt.broadcast %x : tensor<1xf32> -> tensor<8xf32>
    %b = tt.expand_dims %a {{axis = 0 : i32}} : tensor<8xf32> -> tensor<1x8xf32>
    tt.return %b : tensor<1x8xf32>

    the element of a splat: %x: f32 -> 0
    %a = tt.splat %x : f32 -> tensor<1xf32>
    %b = tt.unsplat %a : tensor<1xf32>
    tt.return %b : f32

    both halves: %x: {T}, %y: {T} -> 0
    %both = tt.join %x, %y : {T} -> tensor<2x4x2xf32>
    %a, %b = tt.split %both : tensor<2x4x2xf32> -> {T}
    tt.return %b, %a : {T}, {T}

    one operand: %x: f32
    %a = tt.splat %x : f32 -> {T}
    %b = math.absf %a : {T}
    tt.return %b : {T}

    two splats: %x: f32, %y: f32
    %a = tt.splat %x : f32 -> {T}
    %b = tt.splat %y : f32 -> {T}
    %c = arith.addf %a, %b : {T}
    tt.return %c : {T}

    a splat and a constant: %x: i32
    %two = arith.constant dense<2> : tensor<8xi32>
    %a = tt.splat %x : i32 -> tensor<8xi32>
    %b = arith.muli %a, %two : tensor<8xi32>
    tt.return %b : tensor<8xi32>

    another element type: %x: i32
    %two = arith.constant dense<2> : tensor<8xi32>
    %a = tt.splat %x : i32 -> tensor<8xi32>
    %b = arith.cmpi slt, %a, %two : tensor<8xi32>
    tt.return %b : tensor<8xi1>

    a cast: %x: f16
    %a = tt.splat %x : f16 -> tensor<8xf16>
    %b = arith.extf %a : tensor<8xf16> to tensor<8xf32>
    tt.return %b : tensor<8xf32>

    a scalar condition: %c: i1, %x: f32, %y: f32 -> 2
    %a = tt.splat %x : f32 -> {T}
    %b = tt.splat %y : f32 -> {T}
    %d = arith.select %c, %a, %b : {T}
    tt.return %d : {T}

    a pointer: %p: !tt.ptr<f32>, %n: i32
    %a = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
    %b = tt.splat %n : i32 -> tensor<8xi32>
    %c = tt.addptr %a, %b : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    tt.return %c : tensor<8x!tt.ptr<f32>>

    a whole chain: %x: f32, %y: f32
    %a = tt.splat %x : f32 -> {T}
    %b = tt.splat %y : f32 -> {T}
    %c = arith.addf %a, %b : {T}
    %d = arith.mulf %c, %a : {T}
    %e = math.absf %d : {T}
    tt.return %e : {T}

    a splat and a variable: %x: f32, %y: {T}
    %a = tt.splat %x : f32 -> {T}
    %b = arith.addf %a, %y : {T}
    tt.return %b : {T}

    one broadcast: %x: tensor<2x1xf32>
    %a = tt.broadcast %x : tensor<2x1xf32> -> {T}
    %b = math.absf %a : {T}
    tt.return %b : {T}

    two broadcasts: %x: tensor<2x1xf32>, %y: tensor<2x1xf32>
    %a = tt.broadcast %x : tensor<2x1xf32> -> {T}
    %b = tt.broadcast %y : tensor<2x1xf32> -> {T}
    %c = arith.addf %a, %b : {T}
    tt.return %c : {T}

    two broadcasts along different axes: %x: tensor<2x1xf32>, %y: tensor<1x4xf32>
    %a = tt.broadcast %x : tensor<2x1xf32> -> {T}
    %b = tt.broadcast %y : tensor<1x4xf32> -> {T}
    %c = arith.addf %a, %b : {T}
    tt.return %c : {T}

    a broadcast and a constant: %x: tensor<2x1xf32>
    %two = arith.constant dense<2.0> : {T}
    %a = tt.broadcast %x : tensor<2x1xf32> -> {T}
    %b = arith.subf %two, %a : {T}
    tt.return %b : {T}

    a broadcast and a splat: %x: tensor<2x1xf32>, %y: f32
    %a = tt.broadcast %x : tensor<2x1xf32> -> {T}
    %b = tt.splat %y : f32 -> {T}
    %c = arith.addf %a, %b : {T}
    tt.return %c : {T}

    a broadcast and a variable: %x: tensor<2x1xf32>, %y: {T}
    %a = tt.broadcast %x : tensor<2x1xf32> -> {T}
    %b = arith.addf %y, %a : {T}
    tt.return %b : {T}
    """
)
P = "tensor<4x!tt.ptr<f32>>"
V = "tensor<4xf32>"
M = "tensor<4xi1>"
MEMORY = functions(
    f"""
    moved by nothing: %p: !tt.ptr<f32>
    %zero = arith.constant 0 : i32
    %q = tt.addptr %p, %zero : !tt.ptr<f32>, i32
    tt.return %q : !tt.ptr<f32>

    moved by nothing, each: %p: {P}
    %zero = arith.constant dense<0> : tensor<4xi64>
    %q = tt.addptr %p, %zero : {P}, tensor<4xi64>
    tt.return %q : {P}

    moved twice: %p: !tt.ptr<f32>
    %three = arith.constant 3 : i32
    %four = arith.constant 4 : i32
    %q = tt.addptr %p, %three : !tt.ptr<f32>, i32
    %r = tt.addptr %q, %four : !tt.ptr<f32>, i32
    tt.return %r : !tt.ptr<f32>

    moved far: %p: !tt.ptr<f32>
    %far = arith.constant 2147483647 : i32
    %q = tt.addptr %p, %far : !tt.ptr<f32>, i32
    %r = tt.addptr %q, %far : !tt.ptr<f32>, i32
    tt.return %r : !tt.ptr<f32>

    moved by two types: %p: !tt.ptr<f32>
    %three = arith.constant 3 : i32
    %four = arith.constant 4 : i64
    %q = tt.addptr %p, %three : !tt.ptr<f32>, i32
    %r = tt.addptr %q, %four : !tt.ptr<f32>, i64
    tt.return %r : !tt.ptr<f32>

    load where true: %p: {P}
    %mask = arith.constant dense<true> : {M}
    %a = tt.load %p, %mask : {P}
    tt.return %a : {V}

    load where true, or other: %p: {P}, %o: {V}
    %mask = arith.constant dense<true> : {M}
    %a = tt.load %p, %mask, %o : {P}
    tt.return %a : {V}

    load where false: %p: {P} -> 0
    %mask = arith.constant dense<false> : {M}
    %a = tt.load %p, %mask : {P}
    tt.return %a : {V}

    load where false, or other: %p: {P}, %o: {V} -> 0
    %mask = arith.constant dense<false> : {M}
    %a = tt.load %p, %mask, %o : {P}
    tt.return %a : {V}

    load somewhere: %p: {P}, %o: {V}, %m: {M}
    %a = tt.load %p, %m, %o : {P}
    tt.return %a : {V}

    store where true: %p: {P}, %v: {V}
    %mask = arith.constant dense<true> : {M}
    tt.store %p, %v, %mask : {P}
    tt.return

    store where false: %p: {P}, %v: {V} -> 0
    %mask = arith.constant dense<false> : {M}
    tt.store %p, %v, %mask : {P}
    tt.return

    load and select: %p: {P}, %m: {M} -> 1
    %seven = arith.constant dense<7.0> : {V}
    %a = tt.load %p, %m : {P}
    %b = arith.select %m, %a, %seven : {M}, {V}
    tt.return %b : {V}

    load or other and select: %p: {P}, %m: {M}, %o: {V} -> 1
    %seven = arith.constant dense<7.0> : {V}
    %a = tt.load %p, %m, %o : {P}
    %b = arith.select %m, %a, %seven : {M}, {V}
    tt.return %b : {V}

    load and select the rest: %p: {P}, %m: {M}
    %seven = arith.constant dense<7.0> : {V}
    %a = tt.load %p, %m : {P}
    %b = arith.select %m, %seven, %a : {M}, {V}
    tt.return %b : {V}

    load and select by another mask: %p: {P}, %m: {M}, %n: {M}
    %seven = arith.constant dense<7.0> : {V}
    %a = tt.load %p, %m : {P}
    %b = arith.select %n, %a, %seven : {M}, {V}
    tt.return %b : {V}

    load for two: %p: {P}, %m: {M}, %o: {V}
    %seven = arith.constant dense<7.0> : {V}
    %a = tt.load %p, %m, %o : {P}
    %b = arith.select %m, %a, %seven : {M}, {V}
    tt.return %a, %b : {V}, {V}
    """
)
SNIPPETS = {
    "integers": INTEGERS,
    "comparisons_and_selects": COMPARISONS,
    "floats": FLOATS,
    "casts": CASTS,
    "shapes": SHAPES,
    "memory": MEMORY,
}


@functools.cache
def theirs() -> dict[str, Operation]:
    """All snippets after real Triton's canonicalizer."""
    texts = [text for snippets in SNIPPETS.values() for snippet in snippets for text in snippet.texts]
    return left_by_triton(tuple(texts))


@pytest.mark.parametrize(("group", "snippet"), [(name, each) for name in SNIPPETS for each in SNIPPETS[name]], ids=str)
def test_snippets(group: str, snippet: Snippet) -> None:
    """Folding and a group's rules leave at most as many operations as real Triton, and as promised."""
    rules = described(f"{group}()", getattr(peepholes, group)).succeeds("a list of rules")
    for text in snippet.texts:
        call = rewriting(text, [*FOLDING, *rules])
        call.words = f"Rewriting with FOLDING and {group}()"
        (ours,), least = call.left.body.operations, theirs()[text]
        got, most = size(ours), size(least)
        left = f"{got[0]} operations, {got[1]} elements:\n{print_module(ours)}"
        if snippet.promised is not None and got[0] > snippet.promised:
            call.refuse(
                f"at most {snippet.promised} operations",
                left,
                f"our rules promise fewer operations than real Triton's {most[0]}",
            )
        if got > most:
            expected = f"at most {most[0]} operations, {most[1]} elements"
            call.refuse(expected, left, f"real Triton leaves\n{print_module(least)}")
