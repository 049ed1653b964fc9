"""Writes batches.json: the inputs that all goldens share."""

from batches import BATCHES, write

if __name__ == "__main__":
    write("batches.json", "generate_batches.py", 0, {name: batch.describe() for name, batch in BATCHES.items()})
