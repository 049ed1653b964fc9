import { checkLength, checkUnitInterval } from '../layout/check.js';

/**
 * Numbers the states that steps stood in, equal numbers for equal anchors; −1 where there is none. `anchors [K]` → `[K]`.
 */
export function numberAnchors(anchors: readonly (string | null)[]): Int32Array {
  const numbers = new Map<string, number>();
  return Int32Array.from(anchors, (anchor) => {
    if (anchor === null) return -1;
    const number = numbers.get(anchor) ?? numbers.size;
    numbers.set(anchor, number);
    return number;
  });
}

export interface SimilarAnchorsInput {
  /** State of each step, as text; null where the environment offers none `[K]`. */
  readonly anchors: readonly (string | null)[];
  /** Group number of each step: states of different groups are never joined `[K]`. */
  readonly groupOfStep: Int32Array;
  /** Least similarity that joins two states, in [0, 1]. */
  readonly threshold: number;
}

/**
 * Most code units (UTF-16) that the distinct states of a group may have together if they are to be compared. It bounds the work of a group: its
 * square over 64, 3·10⁸ operations on words, takes about a second.
 */
export const MOST_COMPARED_UNITS = 131_072;

export interface SimilarAnchors {
  /** Number of each step's state, −1 where there is none `[K]`. */
  readonly anchors: Int32Array;
  /** Groups with more than `MOST_COMPARED_UNITS` of text: in them only equal states share a number. */
  readonly numUncomparedGroups: number;
}

/**
 * Numbers states so that similar ones are the same: the connected components of the graph that joins two states of a group when their
 * `textSimilarity` reaches the threshold. So which states share a number does not depend on the order of the steps, as it would if each state joined
 * the first cluster that fits.
 *
 * Compares all pairs of distinct texts in a group; most are told apart by their lengths and letters. In groups with too much text for that only equal
 * states share a number, so that this does not depend on the order either.
 *
 * @throws AlgorithmError `INVALID_ARGUMENT` for arrays of unequal length, a threshold outside [0, 1]
 */
export function numberSimilarAnchors({
  anchors,
  groupOfStep,
  threshold,
}: SimilarAnchorsInput): SimilarAnchors {
  checkLength({ groupOfStep }, anchors.length);
  checkUnitInterval({ threshold });
  const exact = numberAnchors(anchors.map((anchor, k) => anchor && `${groupOfStep[k]} ${anchor}`));
  const texts: string[] = [];
  const statesOfGroup = new Map<number, number[]>();
  exact.forEach((number, k) => {
    const anchor = anchors[k];
    if (anchor === null || number < texts.length) return;
    texts[number] = anchor;
    const states = statesOfGroup.get(groupOfStep[k]) ?? [];
    states.push(number);
    statesOfGroup.set(groupOfStep[k], states);
  });

  const roots = texts.map((_, number) => number);
  const rootOf = (number: number): number => {
    let root = number;
    while (roots[root] !== root) root = roots[root];
    return root;
  };
  let numUncomparedGroups = 0;
  for (const states of statesOfGroup.values()) {
    if (states.reduce((sum, state) => sum + texts[state].length, 0) > MOST_COMPARED_UNITS) {
      numUncomparedGroups += 1;
      continue;
    }
    states.forEach((a, i) => {
      for (const b of states.slice(i + 1)) {
        if (rootOf(a) === rootOf(b) || !isSimilar(texts[a], texts[b], threshold)) continue;
        roots[Math.max(rootOf(a), rootOf(b))] = Math.min(rootOf(a), rootOf(b));
      }
    });
  }
  return { anchors: exact.map((number) => (number === -1 ? -1 : rootOf(number))), numUncomparedGroups };
}

/**
 * Similarity of two texts, in [0, 1]: 2·L/(|a| + |b|) with L the length of their longest common subsequence of UTF-16 code
 * units. Symmetric, unlike the ratio of Python's difflib, which it is never below. Two empty texts have 1.
 */
export function textSimilarity(a: string, b: string): number {
  if (a === b) return 1;
  return (2 * longestCommonSubsequence(a, b)) / (a.length + b.length);
}

function isSimilar(a: string, b: string, threshold: number): boolean {
  const needed = (threshold * (a.length + b.length)) / 2;
  if (Math.min(a.length, b.length) < needed || numSharedUnits(a, b) < needed) return false;
  return longestCommonSubsequence(a, b) >= needed;
}

/** How many code units two texts have in common regardless of order: no common subsequence is longer. */
function numSharedUnits(a: string, b: string): number {
  const counts = new Map<number, number>();
  for (let i = 0; i < a.length; i++) counts.set(a.charCodeAt(i), (counts.get(a.charCodeAt(i)) ?? 0) + 1);
  let numShared = 0;
  for (let j = 0; j < b.length; j++) {
    const left = counts.get(b.charCodeAt(j)) ?? 0;
    if (left === 0) continue;
    counts.set(b.charCodeAt(j), left - 1);
    numShared += 1;
  }
  return numShared;
}

/**
 * Length of the longest common subsequence, 32 places of `a` at a time (Hyyrö, "Bit-parallel LCS-length computation revisited",
 * 2004): bit i of V is 0 where the row of the usual table grows at place i, and V ← (V + (V & M)) | (V & ~M) takes it one code unit
 * of `b` further, M marking the places of that unit in `a`.
 */
function longestCommonSubsequence(a: string, b: string): number {
  const numWords = Math.ceil(a.length / 32);
  const places = new Map<number, Int32Array>();
  for (let i = 0; i < a.length; i++) {
    const unit = a.charCodeAt(i);
    const marks = places.get(unit) ?? new Int32Array(numWords);
    marks[i >> 5] |= 1 << (i & 31);
    places.set(unit, marks);
  }
  const row = new Int32Array(numWords).fill(-1);
  for (let j = 0; j < b.length; j++) {
    const marks = places.get(b.charCodeAt(j));
    if (!marks) continue;
    let carry = 0;
    for (let word = 0; word < numWords; word++) {
      const bits = row[word];
      const sum = (bits >>> 0) + ((bits & marks[word]) >>> 0) + carry;
      carry = Number(sum > 0xffffffff);
      row[word] = sum | 0 | (bits & ~marks[word]);
    }
  }
  let length = 0;
  for (let i = 0; i < a.length; i++) length += Number(((row[i >> 5] >>> (i & 31)) & 1) === 0);
  return length;
}
