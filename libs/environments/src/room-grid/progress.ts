import type { Clause, Mission } from './mission.js';
import { DROP, PICK_UP, TOGGLE } from './move.js';
import type { Thing } from './thing.js';

/** How far a mission is, as BabyAI's verifiers keep it. */
export interface Progress {
  /** By clause: whether it was carried out while it counted. */
  readonly isDone: readonly boolean[];
  /** By clause: index of what the agent carried when the clause was last looked at; −1 for nothing. */
  readonly held: readonly number[];
  /** Outcome of the last move. */
  readonly status: Status;
}

export const STATUSES = ['going', 'success', 'failure'] as const;
export type Status = (typeof STATUSES)[number];

/** The world after a move. */
interface AfterMove {
  readonly move: number;
  readonly things: readonly Thing[];
  readonly carrying: number;
  /** The cell in front of the agent, and the index of the thing on it or −1. */
  readonly front: { readonly x: number; readonly y: number };
  readonly facing: number;
}

export function startProgress({ clauses }: Mission): Progress {
  return { isDone: clauses.map(() => false), held: clauses.map(() => -1), status: 'going' };
}

/** Indices of the clauses that count now: those of the first stage that is not done, or of the last. */
export function currentStage({ stages }: Mission, { isDone }: Pick<Progress, 'isDone'>): readonly number[] {
  return stages.find((stage) => stage.some((i) => !isDone[i])) ?? stages[stages.length - 1];
}

/**
 * Looks at the clauses that count, and at those of the next stage, too, if the move ends one.
 *
 * @param failsAtOnce whether opening the first of two doors fails a strict clause about the second, as it does in BabyAI, where such a task
 * can't be solved unless failures are ignored
 */
export function verifyMove(
  { clauses, stages }: Mission,
  {
    before,
    after,
    failsAtOnce,
  }: { readonly before: Progress; readonly after: AfterMove; readonly failsAtOnce: boolean },
): Progress {
  const isDone = [...before.isDone];
  const held = [...before.held];
  const verify = (i: number): Status => {
    const status = verifyClause(clauses[i], held[i], after);
    held[i] = after.carrying;
    if (status === 'success') isDone[i] = true;
    return status;
  };
  const verifyStage = (stage: readonly number[]): Status => {
    if (stage.length === 1) return verify(stage[0]);
    for (const i of stage) if (!isDone[i]) verify(i);
    return stage.every((i) => isDone[i]) ? 'success' : 'going';
  };
  const isPast = (stage: readonly number[]): boolean => stage.every((i) => before.isDone[i]);
  let status: Status = 'success';
  let hasEnded = false;
  for (const [place, stage] of stages.entries()) {
    if (place < stages.length - 1 && isPast(stage)) continue;
    status = verifyStage(stage);
    if (status === 'failure' && hasEnded && !failsAtOnce) status = 'going';
    if (status !== 'success') break;
    hasEnded = true;
  }
  return { isDone, held, status };
}

function verifyClause({ verb, target, beside, isStrict }: Clause, held: number, after: AfterMove): Status {
  const { move, things, carrying, front, facing } = after;
  const failed: Status = isStrict ? 'failure' : 'going';
  if (verb === 'go to') {
    const isThere = [...target.things].some((i) => things[i].x === front.x && things[i].y === front.y);
    return isThere ? 'success' : 'going';
  }
  if (verb === 'open') {
    if (move !== TOGGLE) return 'going';
    if (target.things.has(facing) && things[facing].state === 'open') return 'success';
    return facing >= 0 && things[facing].kind === 'door' ? failed : 'going';
  }
  if (verb === 'pick up') {
    if (move !== PICK_UP) return 'going';
    if (held < 0 && target.things.has(carrying)) return 'success';
    return carrying >= 0 ? failed : 'going';
  }
  if (move !== DROP || beside === null || !target.things.has(held)) return 'going';
  const { x, y } = things[held];
  const isBeside = (i: number): boolean => Math.abs(things[i].x - x) + Math.abs(things[i].y - y) === 1;
  return [...beside.things].some(isBeside) ? 'success' : 'going';
}
