/**
 * Levenshtein distance: the fewest insertions, deletions and replacements of characters (code points) that make one text the
 * other.
 */
export function editDistance(a: string, b: string): number {
  const [shorter, longer] = [Array.from(a), Array.from(b)].sort((x, y) => x.length - y.length);
  const row = Int32Array.from({ length: shorter.length + 1 }, (_, j) => j);
  longer.forEach((character, i) => {
    let diagonal = row[0];
    row[0] = i + 1;
    for (let j = 1; j <= shorter.length; j++) {
      const replaced = diagonal + Number(shorter[j - 1] !== character);
      diagonal = row[j];
      row[j] = Math.min(replaced, row[j] + 1, row[j - 1] + 1);
    }
  });
  return row[shorter.length];
}

/** 1 − distance/(length of the longer text), in [0, 1]; two empty texts have 1. */
export function editSimilarity(a: string, b: string): number {
  const longest = Math.max(Array.from(a).length, Array.from(b).length);
  return longest === 0 ? 1 : 1 - editDistance(a, b) / longest;
}
