"""Goldens of answers: exact match and F1 of SQuAD's own evaluation script (v2.0, whose path is the argument), and whether numbers
are equal, of math-verify. Writes answers.json."""

import hashlib
import importlib.util
import json
import platform
import sys
from importlib.metadata import version
from pathlib import Path

from math_verify import parse, verify

SQUAD_SHA256 = "78f49dcecd1229b8f3cfe99f1f6a018c1f20501608da32e34e026f42f3b22d12"

# Prediction and reference.
TEXTS = [
    ("the cat", "The Cat!"),
    ("a cat sat", "cat sat down"),
    ("", ""),
    ("", "cat"),
    ("cat", ""),
    ("the", "a"),
    ("the", "cat"),
    ("cat cat dog", "cat dog dog bird"),
    ("Denver Broncos", "the Denver Broncos."),
    ("in 1,066", "1066"),
    ("state-of-the-art", "state of the art"),
    ("an  apple\ta day\n", "apple day"),
    ("theatre", "atre"),
    ("España", "españa"),
    ("ñandú a la brasa", "Ñandú la brasa"),
    ("the_a an", "thea"),
    ("the² a", "the²"),
    ("„quoted“ text", "quoted text"),
    ("“the” end", "“” end"),
    ("İstanbul", "i̇stanbul"),
    ("straße", "STRASSE"),
    ("ΟΔΥΣΣΕΥΣ", "οδυσσευς"),
    ("北京 the 市", "北京 市"),
    ("10\u00a0km", "10 km"),
    ("cat\u2028dog", "cat dog"),
    ("cat\u200bdog", "cat dog"),
    ("cat\x1fdog", "cat dog"),
    ("cat\ufeffdog", "cat dog"),
    ("$5.00", "500"),
    ("A.D. 70", "ad 70"),
    ("an an an hour", "hour"),
]

# Answer and reference, both numbers.
NUMBERS = [
    ("42", "42"),
    ("42", "43"),
    ("-3.5", "-7/2"),
    ("0.5", "\\frac{1}{2}"),
    ("\\frac{3}{4}", "0.75"),
    ("\\dfrac{3}{4}", "6/8"),
    ("-\\frac{1}{2}", "-0.5"),
    ("3/4", "0.75"),
    ("1,234,567.5", "1234567.5"),
    ("1,000", "1000"),
    ("\\boxed{42}", "42"),
    ("so the answer is \\boxed{\\frac{1}{8}}.", "0.125"),
    ("\\boxed{7} no, \\boxed{8}", "8"),
    ("$12", "12"),
    ("12.5%", "0.125"),
    ("7.0", "7"),
    ("+7", "7"),
    (".25", "0.25"),
    ("1.5", "1.50"),
    ("100", "99"),
    ("0", "-0"),
    ("2.0001", "2"),
]


def load_squad(path):
    if hashlib.sha256(Path(path).read_bytes()).hexdigest() != SQUAD_SHA256:
        raise SystemExit(f"{path} is not SQuAD's evaluate-v2.0.py")
    spec = importlib.util.spec_from_file_location("squad", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main():
    squad = load_squad(sys.argv[1])
    document = {
        "generator": "generate_answers.py",
        "versions": {
            "python": platform.python_version(),
            "squad": "evaluate-v2.0.py",
            **{package: version(package) for package in ["math-verify", "latex2sympy2_extended"]},
        },
        "tolerance": 1e-12,
        "texts": [
            {
                "prediction": prediction,
                "reference": reference,
                "normal": squad.normalize_answer(prediction),
                "exact": squad.compute_exact(reference, prediction),
                "f1": float(squad.compute_f1(reference, prediction)),
            }
            for prediction, reference in TEXTS
        ],
        "numbers": [
            {"answer": answer, "reference": reference, "agree": bool(verify(parse(reference), parse(answer)))}
            for answer, reference in NUMBERS
        ],
    }
    path = Path(__file__).parent / "answers.json"
    path.write_text(json.dumps(document, ensure_ascii=True, indent=1) + "\n")


if __name__ == "__main__":
    main()
