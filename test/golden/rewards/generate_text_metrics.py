"""Goldens of text metrics, from sacrebleu and rouge-score. Writes text-metrics.json."""

import json
import platform
from importlib.metadata import version
from pathlib import Path

import sacrebleu
from rouge_score import rouge_scorer

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
]


def main():
    scorer = rouge_scorer.RougeScorer(["rougeL"], use_stemmer=False)
    cases = [
        {
            "prediction": prediction,
            "references": references,
            "bleu": sacrebleu.sentence_bleu(prediction, references).score / 100,
            "rougeL": max(scorer.score(reference, prediction)["rougeL"].fmeasure for reference in references),
        }
        for prediction, references in CASES
    ]
    document = {
        "generator": "generate_text_metrics.py",
        "versions": {"python": platform.python_version(), **{p: version(p) for p in ["sacrebleu", "rouge-score"]}},
        "tolerance": 1e-9,
        "cases": cases,
    }
    path = Path(__file__).parent / "text-metrics.json"
    path.write_text(json.dumps(document, ensure_ascii=False, indent=1) + "\n")


if __name__ == "__main__":
    main()
