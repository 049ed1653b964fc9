import { RewardError } from '../errors.js';

const MAX_ORDER = 4;

/**
 * BLEU of one text (Papineni et al. 2002), in [0, 1], as sacrebleu's `sentence_bleu` has it by default: tokenizer 13a, orders
 * 1–4, exponential smoothing, effective order, the reference length closest to the prediction's (the shorter on a tie).
 *
 * @throws RewardError `INVALID_ARGUMENT` without a reference
 */
export function sentenceBleu(prediction: string, references: readonly string[]): number {
  if (references.length === 0) {
    throw new RewardError('INVALID_ARGUMENT', 'references is empty, must hold at least one text');
  }
  const predicted = tokenize13a(prediction);
  const expected = references.map(tokenize13a);
  let smoothing = 1;
  let sumOfLogs = 0;
  let effectiveOrder = 0;
  let anyMatch = false;
  for (let order = 1; order <= MAX_ORDER; order++) {
    const total = predicted.length - order + 1;
    if (total <= 0) break;
    const numMatching = countMatching(
      ngrams(predicted, order),
      expected.map((words) => ngrams(words, order)),
    );
    anyMatch ||= numMatching > 0;
    effectiveOrder = order;
    if (numMatching === 0) smoothing *= 2;
    sumOfLogs += Math.log(numMatching === 0 ? 1 / (smoothing * total) : numMatching / total);
  }
  if (!anyMatch) return 0;
  return brevityPenalty(predicted.length, expected) * Math.exp(sumOfLogs / effectiveOrder);
}

/** Words of mteval-v13a: punctuation apart, but points and commas inside numbers. */
function tokenize13a(text: string): string[] {
  const unescaped = text
    .replaceAll('<skipped>', '')
    .replaceAll('-\n', '')
    .replaceAll('\n', ' ')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>');
  return ` ${unescaped} `
    .replace(/([{-~[-` -&(-+:-@/])/g, ' $1 ')
    .replace(/([^0-9])([.,])/g, '$1 $2 ')
    .replace(/([.,])([^0-9])/g, ' $1 $2')
    .replace(/([0-9])(-)/g, '$1 $2 ')
    .split(/\s+/)
    .filter((word) => word !== '');
}

function ngrams(words: readonly string[], order: number): Map<string, number> {
  const counts = new Map<string, number>();
  for (let i = 0; i + order <= words.length; i++) {
    const gram = words.slice(i, i + order).join(' ');
    counts.set(gram, (counts.get(gram) ?? 0) + 1);
  }
  return counts;
}

/** Each n-gram counts as often as the reference with most of it has it. */
function countMatching(predicted: Map<string, number>, references: readonly Map<string, number>[]): number {
  let numMatching = 0;
  for (const [gram, count] of predicted) {
    numMatching += Math.min(count, Math.max(0, ...references.map((reference) => reference.get(gram) ?? 0)));
  }
  return numMatching;
}

function brevityPenalty(numPredicted: number, references: readonly (readonly string[])[]): number {
  const lengths = references.map((words) => words.length);
  const closest = lengths.reduce((best, length) => {
    const difference = Math.abs(length - numPredicted) - Math.abs(best - numPredicted);
    return difference < 0 || (difference === 0 && length < best) ? length : best;
  });
  return numPredicted >= closest ? 1 : Math.exp(1 - closest / numPredicted);
}
