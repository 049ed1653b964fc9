"""Writes gsm8k.parquet as verl's example for GSM8K does: pandas, pyarrow, the same columns. The questions are our own.

    python generate_gsm8k.py          needs pandas and pyarrow
    python generate_gsm8k.py N PATH   writes N rows to PATH, for measurements
"""

import sys
from pathlib import Path

import pandas as pd

ITEMS = ["apples", "books", "candles", "drums", "eggs", "forks"]


def row(index):
    have, more, times = 2 + index % 7, 1 + index % 5, 2 + index % 3
    item = ITEMS[index % len(ITEMS)]
    question = f"A shop has {have} {item} and buys {more} more in each of {times} weeks. How many {item} has it then?"
    answer = f"It buys {more} * {times} = {more * times}, so it has {have + more * times}.\n#### {have + more * times}"
    return {
        "data_source": "openai/gsm8k",
        "prompt": [{"role": "user", "content": f'{question} Let\'s think step by step and output the final answer after "####".'}],
        "ability": "math",
        "reward_model": {"style": "rule", "ground_truth": f"{have + more * times}"},
        "extra_info": {"split": "train", "index": index, "answer": answer, "question": question},
    }


count = int(sys.argv[1]) if len(sys.argv) > 1 else 12
path = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(__file__).parent / "gsm8k.parquet"
pd.DataFrame([row(index) for index in range(count)]).to_parquet(path, row_group_size=50_000)
