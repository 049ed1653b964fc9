"""Goldens of text metrics, from sacrebleu, rouge-score and rapidfuzz, and of answers in LaTeX, from verl's MATH reward. Writes
text-metrics.json."""

import json
import platform
from importlib.metadata import version
from pathlib import Path

import sacrebleu
from rapidfuzz.distance import Levenshtein
from rouge_score import rouge_scorer
from verl.utils.reward_score import math_reward

CASES = [
    ("the cat sat on the mat", ["the cat sat on the mat"]),
    ("the cat sat on the mat", ["a cat is on the mat", "there is a cat on the mat"]),
    ("the the the the", ["the cat sat on the mat"]),
    ("Hello, world! It costs $3.50, or 1,000-2,000 yen.", ["Hello world: it costs $ 3.50 or 1,000 yen."]),
    ("cat", ["the cat"]),
    ("the cat", ["dog"]),
    ("", ["the cat"]),
    ("a b c d e", ["a x c y e z"]),
    ("He said &quot;yes&quot; &amp; left (quickly).", ['He said "yes" and left quickly.']),
    ("It's state-of-the-art, isn't it?", ["It is state of the art , is it not ?"]),
    ("go to the red ball 1 and pick it up", ["go to the red ball 2", "pick up the red ball 1 and go"]),
    ("eins zwei drei vier fünf", ["eins zwei drei vier fünf sechs sieben"]),
    ("long answer with many more words than the reference has", ["short reference"]),
    ("3.14159 is pi.", ["pi is 3.14159"]),
    ("kitten 🙂", ["sitting 🙃", "🙂 kitten"]),
]

# Answer and reference, as the MATH benchmark compares what is in the box.
MATH_ANSWERS = [
    ("\\frac12", "\\frac{1}{2}"),
    ("\\dfrac{1}{2}", "\\tfrac{1}{2}"),
    ("0.5", "\\frac{1}{2}"),
    ("1/2", "\\frac{1}{2}"),
    ("-3/4", "\\frac{-3}{4}"),
    ("\\frac1{72}", "\\frac{1}{72}"),
    ("\\frac{72}1", "\\frac{72}{1}"),
    (".25", "0.25"),
    ("5\\text{ cm}", "5"),
    ("5\\text{cm}", "5"),
    ("x = 7", "7"),
    ("area = 7", "7"),
    ("\\$12", "12"),
    ("30^\\circ", "30"),
    ("30^{\\circ}", "30"),
    ("50\\%", "50"),
    ("\\left(1, 2\\right)", "(1,2)"),
    ("\\sqrt3", "\\sqrt{3}"),
    ("2\\sqrt{3}", "2\\sqrt3"),
    ("x+1", "1+x"),
    ("1,000", "1000"),
    ("10\\!,000", "10,000"),
    ("01/2", "\\frac{1}{2}"),
    ("a/b", "\\frac{a}{b}"),
    ("", "0"),
    ("", ""),
    ("\\frac{.5}{2}", "\\frac{0.5}{2}"),
]


def main():
    scorer = rouge_scorer.RougeScorer(["rougeL"], use_stemmer=False)
    cases = [
        {
            "prediction": prediction,
            "references": references,
            "bleu": sacrebleu.sentence_bleu(prediction, references).score / 100,
            "editDistances": [Levenshtein.distance(prediction, reference) for reference in references],
            "rougeL": max(scorer.score(reference, prediction)["rougeL"].fmeasure for reference in references),
        }
        for prediction, references in CASES
    ]
    document = {
        "generator": "generate_text_metrics.py",
        "versions": {"python": platform.python_version(), **{p: version(p) for p in ["sacrebleu", "rouge-score", "rapidfuzz", "verl"]}},
        "tolerance": 1e-9,
        "cases": cases,
        "mathAnswers": [
            {"answer": answer, "reference": reference, "agree": bool(math_reward.is_equiv(answer, reference))}
            for answer, reference in MATH_ANSWERS
        ],
    }
    path = Path(__file__).parent / "text-metrics.json"
    path.write_text(json.dumps(document, ensure_ascii=False, indent=1) + "\n")


if __name__ == "__main__":
    main()
