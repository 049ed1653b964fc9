/**
 * ROUGE-L (Lin 2004): F1 of the longest common subsequence of words, in [0, 1], as the package rouge-score has it without
 * stemming: lower case, every run of characters other than a–z and 0–9 separates words.
 */
export function rougeL(prediction: string, reference: string): number {
  const predicted = splitWords(prediction);
  const expected = splitWords(reference);
  if (predicted.length === 0 || expected.length === 0) return 0;
  return (2 * longestCommonSubsequence(predicted, expected)) / (predicted.length + expected.length);
}

function splitWords(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
}

function longestCommonSubsequence(a: readonly string[], b: readonly string[]): number {
  let above = new Int32Array(b.length + 1);
  let row = new Int32Array(b.length + 1);
  for (const word of a) {
    for (let j = 1; j <= b.length; j++) {
      row[j] = word === b[j - 1] ? above[j - 1] + 1 : Math.max(above[j], row[j - 1]);
    }
    [above, row] = [row, above];
  }
  return above[b.length];
}
