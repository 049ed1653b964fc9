"""Prints each data set that is named, as Hugging Face `datasets` loads it from its directory: rows by split, as JSON lines."""

import json
import sys

from datasets import load_dataset

for directory in sys.argv[1:]:
    splits = load_dataset(directory)
    print(json.dumps({name: [dict(row) for row in rows] for name, rows in sorted(splits.items())}))
