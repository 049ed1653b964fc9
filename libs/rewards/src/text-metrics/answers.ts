/** Space as Python's `str.split` defines it: besides Unicode's spaces the separators U+001C … U+001F. */
// oxlint-disable-next-line no-control-regex -- intended
const PYTHON_SPACES = /[\p{White_Space}\u001c-\u001f]+/u;

/**
 * The normal form in which SQuAD compares answers (Rajpurkar et al., arXiv:1606.05250): lower case, no ASCII punctuation, no
 * English articles, single spaces. Words are those of all scripts, as in the Python of its evaluation script.
 */
export function normalizeAnswer(text: string): string {
  return text
    .toLowerCase()
    .replace(/[!-/:-@[-`{-~]/g, '')
    .replace(/(?<![\p{L}\p{N}_])(?:a|an|the)(?![\p{L}\p{N}_])/gu, ' ')
    .split(PYTHON_SPACES)
    .filter((word) => word !== '')
    .join(' ');
}

/** 1 when both texts are equal in normal form, else 0. */
export function exactMatch(prediction: string, reference: string): number {
  return Number(normalizeAnswer(prediction) === normalizeAnswer(reference));
}

/** SQuAD's F1 of the bags of words in normal form, in [0, 1]. Two empty answers agree; an empty and another one do not. */
export function tokenF1(prediction: string, reference: string): number {
  const predicted = splitWords(prediction);
  const expected = splitWords(reference);
  if (predicted.length === 0 || expected.length === 0) return Number(predicted.length === expected.length);
  const left = new Map<string, number>();
  for (const word of expected) left.set(word, (left.get(word) ?? 0) + 1);
  let numShared = 0;
  for (const word of predicted) {
    const count = left.get(word) ?? 0;
    if (count === 0) continue;
    left.set(word, count - 1);
    numShared += 1;
  }
  return (2 * numShared) / (predicted.length + expected.length);
}

function splitWords(text: string): string[] {
  const normal = normalizeAnswer(text);
  return normal === '' ? [] : normal.split(' ');
}
