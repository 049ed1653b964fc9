import type { ChosenIds } from '@retrace/compute';
import { PolicyError } from '../policy-error.js';

/** The k likeliest ids of a teacher at some of N tokens, R of them. */
export interface TeacherTop {
  readonly topK: number;
  /** [N] Which of the R rows is the token's; −1 where nothing is known. */
  readonly rows: Int32Array;
  /** [R·k] Ids, those of a row together, from the likeliest on. */
  readonly ids: Int32Array;
  /** [R·k] logπ of the teacher, nats. */
  readonly logprobs: Float32Array;
}

/** The ids whose logprobs a loss reads at these tokens, [M]; id 0 where nothing is known. */
export function chosenIdsAt({ topK, rows, ids }: TeacherTop, positions: Int32Array): ChosenIds {
  const chosen = new Int32Array(positions.length * topK);
  positions.forEach((n, m) => {
    const row = rows[n];
    if (row >= 0) chosen.set(ids.subarray(row * topK, (row + 1) * topK), m * topK);
  });
  return { numPerRow: topK, ids: chosen };
}

/** The tables of other tokens, whose rows are given [N']; rows that none of them has are left out. */
export function selectTeacherTop({ topK, ids, logprobs }: TeacherTop, rows: Int32Array): TeacherTop {
  const used = [...new Set(rows)].filter((row) => row >= 0);
  const places = new Map(used.map((row, place) => [row, place]));
  const selected = {
    topK,
    rows: rows.map((row) => places.get(row) ?? -1),
    ids: new Int32Array(used.length * topK),
    logprobs: new Float32Array(used.length * topK),
  };
  used.forEach((row, place) => {
    const [from, end] = [row * topK, (row + 1) * topK];
    selected.ids.set(ids.subarray(from, end), place * topK);
    selected.logprobs.set(logprobs.subarray(from, end), place * topK);
  });
  return selected;
}

/** @throws PolicyError `INVALID_BATCH` */
export function validateTeacherTop(
  { topK, rows, ids, logprobs }: TeacherTop,
  { numTokens, vocabSize }: { readonly numTokens: number; readonly vocabSize: number },
): void {
  const numRows = ids.length / topK;
  const problems = [
    rows.length === numTokens ? null : `rows has ${rows.length} entries, must have ${numTokens}`,
    topK <= vocabSize ? null : `topK is ${topK}, must be at most the vocabulary's ${vocabSize}`,
    Number.isInteger(numRows) ? null : `ids has ${ids.length} entries, must be a multiple of ${topK}`,
    logprobs.length === ids.length
      ? null
      : `logprobs has ${logprobs.length} entries, must have ${ids.length}`,
    findOutside('rows', rows, [-1, numRows - 1]),
    findOutside('ids', ids, [0, vocabSize - 1]),
  ];
  const problem = problems.find((found) => found !== null);
  if (problem) throw new PolicyError('INVALID_BATCH', `teacherTop.${problem}`);
}

function findOutside(name: string, values: Int32Array, [least, most]: readonly [number, number]) {
  const i = values.findIndex((value) => value < least || value > most);
  return i < 0 ? null : `${name}[${i}] is ${values[i]}, must be in ${least} … ${most}`;
}
