"""Texts and tables that nobody should have to type, for the tests of the server and the page."""

from __future__ import annotations

TEXTS = [
    "", " ", "(", ")", "((((((((((", "z" * 1999, "z" * 5000, "9**9**9**9", "1/0", "log(0)",
    "__import__('os').system('true')", "().__class__.__bases__", "lambda: 0", "open('x')", "z.real",
    "z[0]", "[z]", "{z}", "z;z", "z\n", "import os", "exec('1')", "<script>alert(1)</script>",
    "</math><script>alert(1)</script>", "javascript:alert(1)", "'\"><img src=x onerror=alert(1)>",
    "\x00", "\x1b[31mred", "\u202ez", "π", "z₁", "1e400", "-1e400*z", "nan", "inf*z", "1e-320*z",
    "+".join(["z"] * 900), "*".join(["z1"] * 600), "(" * 300 + "z" + ")" * 300, "-" * 900 + "z",
    "sin(" * 120 + "z" + ")" * 120, "exp(" * 40 + "z" + ")" * 40, "z**(10**9)", "He999999(z)",
    "He-1(z)", "z0", "z10", "z1000000", "xi*xi*xi", "where(z, z", "where()", "sign", "sign()",
    "sign(z, z)", "bernoulli(z)", "poisson(-1)", "categorical()", "flip(z, 2)", "None", "True",
    "z if z else z", "%s%s%s", "{{7*7}}", "../../etc/passwd", "a" * 100_000,
]  # fmt: skip
assert len(TEXTS) >= 60

_ROWS = "\n".join(f"{k},{k * k % 7},{(3 * k) % 5}" for k in range(40))

TABLES = {
    "empty.csv": b"",
    "one-line.csv": b"a,b,c\n",
    "zeros.csv": b"\0" * 1000,
    "few-rows.csv": b"a,b\n1,2\n3,4\n",
    "pickle.csv": b"\x80\x04\x95\x1c\x00\x00\x8c\x05posix\x94\x8c\x06system\x94.",
    "pickle.parquet": b"\x80\x04cos\nsystem\n(S'true'\ntR.",
    "false.parquet": b"PAR1" + b"\xff" * 200 + b"PAR1",
    "false.csv.gz": b"\x1f\x8b" + b"\xff" * 100,
    "text.exe": b"MZ",
    "no-ending": b"a,b\n1,2\n",
    "../../../etc/passwd": b"root",
    "..\\..\\x.csv": f"a,b,c\n{_ROWS}\n".encode(),
    "same-names.csv": f"a,a,b\n{_ROWS}\n".encode(),
    "words.csv": b"a,b\n" + b"x,y\n" * 40,
    "constant.csv": b"a,b\n" + b"1,1\n" * 40,
    "infinite.csv": f"a,b,c\ninf,1,2\n{_ROWS}\n".encode(),
    "missing.csv": f"a,b,c\n,1,2\n{_ROWS}\n".encode(),
    "ragged.csv": b"a,b\n1,2,3\n4\n5,6,7,8\n" * 20,
    "html.csv": b"<script>,<img src=x onerror=alert(1)>,y\n" + f"{_ROWS}\n".encode(),
    "binary.csv": bytes(range(256)) * 50,
    "long-line.csv": b"a" * 2_000_000,
    "dates.csv": b"day,y\n" + b"2020-01-01,1\n" * 40,
}
assert len(TABLES) >= 20
