import type { Observation, StepResult } from '@retrace/environments';
import type { Json } from '@retrace/trajectory';
import type { ActMove } from './episode-loop.js';

/** Between the parsed actions of a turn that has several. */
const SEPARATOR = ' || ';

/** Whether a result ended the episode; false where there is none. */
export function isOver(result: StepResult | null | undefined): boolean {
  return result !== null && result !== undefined && (result.terminated || result.truncated);
}

/** The outcome of a turn in which no action was carried out: the agent sees the same observation again. */
export function withoutAction(observation: Observation, actionValid: boolean): StepResult {
  return {
    observation,
    reward: 0,
    rewardNames: [],
    rewardValues: [],
    terminated: false,
    truncated: false,
    parsedAction: null,
    actionValid,
    success: null,
    info: null,
  };
}

/** The outcome of a turn without actions: as if nothing was carried out, with the loop's note. */
export function nothingDone(observation: Observation, { isValid, note }: ActMove): StepResult {
  const result = withoutAction(observation, isValid);
  return note === null ? result : { ...result, info: withNote(null, note) };
}

/**
 * One result for the actions of a turn: rewards and their named parts are summed, and the observation, the end and the info are the last one's.
 * The info lists each action of several, and holds the loop's note. A single action without a note keeps its result as it is.
 *
 * @param results of the actions that were carried out, in order, at least one
 */
export function joinResults(results: readonly StepResult[], { actions, isValid, note }: ActMove): StepResult {
  const last = results[results.length - 1];
  if (results.length === 1 && note === null) return isValid ? last : { ...last, actionValid: false };
  const actionValid = isValid && results.every((result) => result.actionValid);
  const agent = { ...note, ...(results.length > 1 && { actions: results.map(describeAction(actions)) }) };
  const parsed = results.map(({ parsedAction }) => parsedAction).filter((action) => action !== null);
  return {
    ...last,
    ...sumRewards(results),
    parsedAction: parsed.length === 0 ? null : parsed.join(SEPARATOR),
    actionValid,
    info: withNote(last.info, agent),
  };
}

/** Puts the loop's note into an info, which an environment may give as any JSON. */
export function withNote(info: Json, agent: Json): Json {
  if (info === null) return { agent };
  if (typeof info === 'object' && !Array.isArray(info)) return { ...info, agent };
  return { environment: info, agent };
}

function sumRewards(results: readonly StepResult[]) {
  const known = results.flatMap(({ reward }) => (reward === null ? [] : [reward]));
  const parts = new Map<string, number>();
  for (const { rewardNames, rewardValues } of results) {
    rewardNames.forEach((name, i) => parts.set(name, (parts.get(name) ?? 0) + rewardValues[i]));
  }
  return {
    reward: known.length === 0 ? null : known.reduce((sum, reward) => sum + reward, 0),
    rewardNames: [...parts.keys()],
    rewardValues: [...parts.values()],
  };
}

function describeAction(actions: readonly string[]) {
  return ({ parsedAction, actionValid, reward }: StepResult, i: number): Json => {
    return { action: actions[i], parsedAction, actionValid, reward };
  };
}
