#!/usr/bin/env python3
"""Prints src/kernels/ref/function_constants.h: the numbers of the elementary functions that are no plain
fractions. Needs mpmath; run by hand when a table changes (the header is committed)."""
from mpmath import mp, mpf, atan, cos, erf, exp, floor, log, lu_solve, matrix, pi, polyval, sqrt

mp.prec = 1600


def as_double(x):
    """The double nearest to x, half to even, and its literal."""
    with mp.workprec(53):
        d = +x
    return d, float(d).hex().replace("0x1.0000000000000p", "0x1p")


def double_double(x):
    hi, hi_text = as_double(x)
    return hi_text, as_double(x - hi)[1]


def split(x, bits):
    """The value cut after `bits` significant bits, and the rest."""
    scale = mpf(2) ** (bits - 1 - int(floor(log(x, 2))))
    head = floor(x * scale) / scale
    return head, x - head


def define(name, x):
    print(f"#define {name} {as_double(x)[1]}")


def define_dd(name, x):
    hi, lo = double_double(x)
    print(f"#define {name}_HI {hi}\n#define {name}_LO {lo}")


def define_parts(name, x, sizes):
    for i, bits in enumerate(sizes, 1):
        head, x = split(x, bits)
        define(f"{name}_{i}", head)
    define(f"{name}_{len(sizes) + 1}", x)


def chebyshev(f, a, b, degree):
    """Coefficients in t of the interpolant at Chebyshev nodes; x = (a + b) / 2 + t (b - a) / 2."""
    nodes = [cos(pi * (2 * k + 1) / (2 * degree + 2)) for k in range(degree + 1)]
    values = matrix([f((a + b) / 2 + (b - a) / 2 * t) for t in nodes])
    return list(lu_solve(matrix([[t**j for j in range(degree + 1)] for t in nodes]), values))


def table(name, rows):
    print(f"static const double {name}[{len(rows)}][{len(rows[0])}] = {{")
    for row in rows:
        print("    {" + ", ".join(row) + "},")
    print("};")


print(
    """/* Numbers of the elementary functions that are no plain fractions. Made by
 * scripts/function-constants.py; not to be edited by hand. */
#ifndef KERNELS_REF_FUNCTION_CONSTANTS_H
#define KERNELS_REF_FUNCTION_CONSTANTS_H

#include <stdint.h>

/* clang-format off */"""
)
ln2 = log(mpf(2))
define("INV_LN2", 1 / ln2)
define_dd("LN2", ln2)
print("/* ln 2 in parts whose product with an exponent of a double is exact. */")
define_parts("LN2_PART", ln2, [40, 40])
define_dd("PI", pi)
define_dd("HALF_PI", pi / 2)
define_dd("QUARTER_PI", pi / 4)
define("EIGHTH_PI", pi / 8)
define("TAN_EIGHTH_PI", sqrt(mpf(2)) - 1)
define("TAN_SIXTEENTH_PI", mp.tan(pi / 16))
define("TAN_3_SIXTEENTHS_PI", mp.tan(3 * pi / 16))
define("TWO_OVER_PI", 2 / pi)
print("/* pi / 2 in parts whose product with an integer below 2^20 is exact. */")
define_parts("HALF_PI_PART", pi / 2, [33, 33])
define_dd("TWO_OVER_SQRT_PI", 2 / sqrt(pi))
for n in (3, 5, 7):
    define_dd(f"ONE_OVER_{n}", mpf(1) / n)
for n in (3, 4, 5, 6, 7, 8):
    define_dd(f"ONE_OVER_FACTORIAL_{n}", 1 / mp.factorial(n))

print("\n/* erf(x) = x P((x^2 - 8) / 8) for |x| <= 4, lowest degree first; relative error below 2^-38. */")
degree = 21
mp.prec = 300
f = lambda z: erf(sqrt(z)) / sqrt(z) if z > 0 else 2 / sqrt(pi)
c = chebyshev(f, mpf(0), mpf(16), degree)
worst = max(abs(polyval(c[::-1], mpf(i) / 500 - 1) / f(mpf(8 * i) / 500) - 1) for i in range(1001))
assert worst < mpf(2) ** -38, worst
terms = as_double(c[degree])[1]
for x in reversed(c[:degree]):
    sign, digits = ("- ", as_double(-x)[1]) if x < 0 else ("+ ", as_double(x)[1])
    terms = f"({terms} * (t)) {sign}{digits}" if terms[0] != "(" else f"(({terms}) * (t)) {sign}{digits}"
print("#define ERF_POLYNOMIAL(t) \\")
words = terms.split(" ")
line = "    ("
for word in words:
    if len(line) + len(word) > 112:
        print(line.ljust(116) + "\\")
        line = "     "
    line += word + " "
print(line.rstrip() + ")")

print("\n/* atan(i / 16) as hi, lo. */")
table("atan_sixteenths", [double_double(atan(mpf(i) / 16)) for i in range(17)])
print("\n/* erf(i / 8) and 2 / sqrt(pi) exp(-(i / 8)^2), each as hi, lo. */")
table(
    "erf_eighths",
    [double_double(erf(mpf(i) / 8)) + double_double(2 / sqrt(pi) * exp(-((mpf(i) / 8) ** 2))) for i in range(49)],
)
print("\n/* Bits of 2 / pi after the point, highest first. */")
mp.prec = 1600
words = 21
n = int(floor(2 / pi * mpf(2) ** (64 * words)))
print(f"static const uint64_t two_over_pi[{words}] = {{")
for i in range(words):
    print(f"    UINT64_C(0x{(n >> (64 * (words - 1 - i))) & (2**64 - 1):016X}),")
print("};\n/* clang-format on */\n\n#endif")
