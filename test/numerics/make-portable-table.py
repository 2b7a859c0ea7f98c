"""Writes fixtures/portable-table.json: exact values of the elementary functions, to test packages/numerics/src/portable.ts against.

Each row holds bit patterns of binary64: the arguments, then the true value as the nearest binary64 and the nearest of what is left, so that
an error can be told to a fraction of a unit in the last place. Decimal arithmetic of 500 digits; nothing of the package is used.
    python3 make-portable-table.py > fixtures/portable-table.json
"""

import random
import struct
from decimal import Decimal, getcontext

getcontext().prec = 500
getcontext().Emin = -100000
getcontext().Emax = 100000

largest = float.fromhex("0x1.fffffffffffffp+1023")
smallest = float.fromhex("0x1p-1074")
draw = random.Random("portable table")


def bits(x):
    return struct.pack(">d", x).hex()


def from_bits(pattern):
    return struct.unpack(">d", struct.pack(">Q", pattern))[0]


def pattern(x):
    return struct.unpack(">Q", struct.pack(">d", x))[0]


def neighbours(x, reach=1):
    return [from_bits(pattern(x) + i) for i in range(-reach, reach + 1)]


def any_between(low, high):
    return from_bits(draw.randint(pattern(low), pattern(high)))


def series(x, first, start):
    """first - first x^2 / (start (start + 1)) + ... : sine from (x, 2), cosine from (1, 1)."""
    total = term = first
    k = start
    while abs(term) > Decimal(10) ** -490:
        term = -term * x * x / (k * (k + 1))
        total += term
        k += 2
    return total


def arctangent_of_inverse(n):
    total = term = Decimal(1) / n
    k = 1
    while abs(term) > Decimal(10) ** -499:
        term = -term / (n * n)
        k += 2
        total += term / k
    return total


half_pi = 2 * (4 * arctangent_of_inverse(5) - arctangent_of_inverse(239))


def sine(x, quarter_turns=0):
    n = (x / half_pi).to_integral_value()
    r = x - n * half_pi
    quadrant = (int(n) + quarter_turns) % 4
    value = series(r, Decimal(1), 1) if quadrant % 2 else series(r, r, 2)
    return -value if quadrant >= 2 else value


def nearly_quarter_turns(exponent):
    """The m < 2^53 for which m 2^exponent comes closest to a multiple of pi / 2: a denominator of a continued fraction."""
    rest = Decimal(2) ** exponent / half_pi
    before, m = 0, 1
    while True:
        rest = 1 / (rest - int(rest))
        before, m = m, int(rest) * m + before
        if m >= 2**53:
            return float(before) * 2.0**exponent


def hyperbolic_tangent(x):
    e = (2 * x).exp()
    return (e - 1) / (e + 1)


functions = {
    "exp": lambda x: x.exp(),
    "log": lambda x: x.ln(),
    "sin": sine,
    "cos": lambda x: sine(x, 1),
    "pow": lambda x, y: (y * x.ln()).exp(),
    "tanh": hyperbolic_tangent,
}


def signed(values):
    return [x for value in values for x in (value, -value)]


def arguments():
    h = float.fromhex
    yield "exp", [0.0, 1.0, -1.0, 709.0, -708.5, h("0x1.62e42fefa39efp+9"), -745.0, -744.4400719213812, 1e-300, -1e-17]
    yield "exp", signed(neighbours(h("0x1.62e42fefa39efp-2")) + neighbours(h("0x1p-53")) + [0.5, 1.0397207708399179])
    yield "exp", [draw.uniform(-745, 709.7) for _ in range(80)] + [draw.uniform(-1, 1) for _ in range(40)]
    yield "log", neighbours(1.0, 3) + neighbours(h("0x1.6a09e667f3bcdp+0")) + neighbours(h("0x1.6a09e667f3bcdp-1"))
    yield "log", [smallest, 2 * smallest, h("0x0.fffffffffffffp-1022"), h("0x1p-1022"), largest, 0.5, 2.0, 10.0, 1e22]
    yield "log", [any_between(smallest, largest) for _ in range(80)] + [draw.uniform(0.5, 2) for _ in range(40)]
    for name in ("sin", "cos"):
        hard = [float(half_pi), float(2 * half_pi), float(half_pi / 2), 22.0, 355.0, 1e9, 2.0**30, h("0x1.fffffffffffffp+29"), 1e22, largest]
        hard += [float(half_pi * n) for n in (3, 7, 1000001, 683565275, 683565276)]
        hard += [nearly_quarter_turns(exponent) for exponent in [*range(-52, -22), 0, 300, 600, 797, 849, 971]]
        yield name, signed(hard) + [smallest, 1e-300, h("0x1p-27"), h("0x1p-26"), 1e-5]
        yield name, [draw.uniform(-10, 10) for _ in range(60)]
        yield name, signed(any_between(2.0**-26, 2.0**30) for _ in range(20)) + signed(any_between(2.0**30, largest) for _ in range(20))
    yield "tanh", signed(neighbours(0.7, 2) + neighbours(20.0) + [19.06, 19.07, 700.0, smallest, 1e-310, 1e-8, h("0x1p-27"), 0.55])
    yield "tanh", [draw.uniform(-3, 3) for _ in range(80)] + signed(any_between(2.0**-30, 20.0) for _ in range(40))


def power_arguments():
    yield from [(2.0, 0.5), (0.5, -0.5), (10.0, -3.0), (10.0, 308.0), (10.0, -323.0), (2.0, -1074.0), (2.0, 1023.0), (3.0, 33.0), (1.1, 10.0)]
    yield from [(largest, 1.0), (smallest, 1.0), (smallest, -0.9), (largest, -1.0), (1.5, 1e-300), (from_bits(pattern(1.0) + 1), 2.0**61)]
    yield from [(from_bits(pattern(1.0) - 1), 2.0**62), (from_bits(pattern(1.0) + 1), -(2.0**61) * 1.3)]
    for _ in range(120):
        x = any_between(smallest, largest) if draw.random() < 0.5 else draw.uniform(0.5, 2)
        exponent = draw.uniform(-744, 709) if draw.random() < 0.7 else draw.uniform(-2, 2)
        yield x, exponent / float(Decimal(x).ln())


def row(name, *given):
    exact = functions[name](*(Decimal(x) for x in given))
    high = float(exact)
    low = float(exact - Decimal(high))
    return "[" + ", ".join(f'"{bits(x)}"' for x in (*given, high, low)) + "]"


rows = {}
for name, values in arguments():
    rows.setdefault(name, []).extend(row(name, x) for x in values)
rows["pow"] = [row("pow", x, y) for x, y in power_arguments()]

print("{")
print(",\n".join(f'  "{name}": [\n    ' + ",\n    ".join(lines) + "\n  ]" for name, lines in rows.items()))
print("}")
