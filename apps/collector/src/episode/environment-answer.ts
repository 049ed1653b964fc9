import type { Observation, SampledTask, StepResult } from '@retrace/environments';
import {
  describeProblem,
  finiteNumber,
  flag,
  integerAtLeast,
  json,
  listOf,
  nonEmptyText,
  nullable,
  numberOrNaN,
  text,
  type FieldRules,
} from '@retrace/trajectory';

/** Bytes of an event for each character of an answer's texts: one event holds the texts of two answers, up to three bytes a character, and tokens. */
const EVENT_BYTES_PER_CHARACTER = 8;

/** Most characters of all texts of one answer, so that the log takes the events that hold them. */
export function maxAnswerCharacters(maxEventBytes: number): number {
  return Math.floor(maxEventBytes / EVENT_BYTES_PER_CHARACTER);
}

const SAMPLED_TASK: FieldRules<SampledTask> = { task: json, seed: integerAtLeast(0) };

const OBSERVATION: FieldRules<Observation> = {
  text,
  anchor: nullable(text),
  legalActions: nullable(listOf(text)),
};

const STEP_RESULT: FieldRules<Omit<StepResult, 'observation'>> = {
  reward: nullable(finiteNumber),
  rewardNames: listOf(nonEmptyText),
  rewardValues: listOf(numberOrNaN),
  terminated: flag,
  truncated: flag,
  parsedAction: nullable(text),
  actionValid: flag,
  success: nullable(flag),
  info: json,
};

/**
 * Reads what an environment answered to a reset, which in a user's environment may be anything. Fields beyond those of an observation are
 * left out.
 *
 * @throws Error naming the field, its value and the rule
 */
export function readObservation(answer: unknown, maxCharacters: number): Observation {
  const observation = readFields(answer, OBSERVATION, 'observation');
  requireSize([observation.text, observation.anchor], maxCharacters);
  return observation;
}

/**
 * Reads what an environment sampled as a task, as `readObservation` does.
 *
 * @throws Error naming the field, its value and the rule
 */
export function readSampledTask(answer: unknown, maxCharacters: number): SampledTask {
  const sampled = readFields(answer, SAMPLED_TASK, 'sampled');
  requireSize([JSON.stringify(sampled.task)], maxCharacters);
  return sampled;
}

/**
 * Reads what an environment answered to a step, as `readObservation` does.
 *
 * @throws Error naming the field, its value and the rule
 */
export function readStepResult(answer: unknown, maxCharacters: number): StepResult {
  const result = readFields(answer, STEP_RESULT, 'result');
  const { rewardNames, rewardValues, parsedAction, info } = result;
  if (rewardValues.length !== rewardNames.length) {
    throw new Error(
      `result.rewardValues has ${rewardValues.length} values; must have one for each of the ${rewardNames.length} rewardNames`,
    );
  }
  const observation = readObservation((answer as StepResult).observation, maxCharacters);
  requireSize([...rewardNames, parsedAction, info === null ? null : JSON.stringify(info)], maxCharacters);
  return { ...result, observation };
}

function readFields<T>(answer: unknown, rules: FieldRules<T>, name: string): T {
  if (typeof answer !== 'object' || answer === null) {
    throw new Error(describeProblem({ field: name, value: answer, rule: 'must be an object' }));
  }
  const fields: Partial<T> = {};
  for (const field of Object.keys(rules) as (keyof T & string)[]) {
    const value = (answer as T)[field];
    const problem = rules[field](value, `${name}.${field}`);
    if (problem !== null) throw new Error(describeProblem(problem));
    fields[field] = value;
  }
  return fields as T;
}

function requireSize(texts: readonly (string | null)[], maxCharacters: number): void {
  const numCharacters = texts.reduce((sum, one) => sum + (one?.length ?? 0), 0);
  if (numCharacters <= maxCharacters) return;
  throw new Error(`its texts have ${numCharacters} characters; must have at most ${maxCharacters}`);
}
