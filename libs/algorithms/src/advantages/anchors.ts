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
 * Numbers states so that similar ones are the same: the connected components of the graph that joins two states of a
 * group when their `textSimilarity` reaches the threshold. So the numbers do not depend on the order of the steps beyond
 * which comes first, as they would if each state joined the first cluster that fits. `[K]`, −1 where there is none.
 *
 * Compares all pairs of distinct texts in a group; most are told apart by their lengths and letters alone.
 */
export function numberSimilarAnchors({ anchors, groupOfStep, threshold }: SimilarAnchorsInput): Int32Array {
  checkLength('groupOfStep', groupOfStep, anchors.length);
  checkUnitInterval('threshold', threshold);
  const exact = numberAnchors(anchors.map((anchor, k) => anchor && `${String(groupOfStep[k])} ${anchor}`));
  const texts: string[] = [];
  const groups: number[] = [];
  exact.forEach((number, k) => {
    const anchor = anchors[k];
    if (anchor === null) return;
    texts[number] = anchor;
    groups[number] = groupOfStep[k];
  });

  const roots = texts.map((_, number) => number);
  const rootOf = (number: number): number => {
    let root = number;
    while (roots[root] !== root) root = roots[root];
    return root;
  };
  for (let a = 0; a < texts.length; a++) {
    for (let b = a + 1; b < texts.length; b++) {
      if (groups[a] === groups[b] && rootOf(a) !== rootOf(b) && isSimilar(texts[a], texts[b], threshold)) {
        roots[Math.max(rootOf(a), rootOf(b))] = Math.min(rootOf(a), rootOf(b));
      }
    }
  }
  return exact.map((number) => (number === -1 ? -1 : rootOf(number)));
}

/**
 * How alike two texts are, in [0, 1]: 2·L/(|a| + |b|) with L the length of their longest common subsequence of UTF-16 code
 * units. Symmetric, unlike the ratio of Python's difflib, which it is never below. Two empty texts are alike.
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

function longestCommonSubsequence(a: string, b: string): number {
  let above = new Int32Array(b.length + 1);
  let row = new Int32Array(b.length + 1);
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      row[j] = a[i - 1] === b[j - 1] ? above[j - 1] + 1 : Math.max(above[j], row[j - 1]);
    }
    [above, row] = [row, above];
  }
  return above[b.length];
}
