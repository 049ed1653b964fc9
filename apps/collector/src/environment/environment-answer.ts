import { cutText, storableJson, storableText, type Changes } from '@retrace/client';
import type { Observation, SampledTask, StepResult } from '@retrace/environments';
import {
  describeProblem,
  finiteNumber,
  flag,
  integerAtLeast,
  type Json,
  json,
  listOf,
  nonEmptyText,
  nullable,
  numberOrNaN,
  text,
  type FieldRules,
  type Problem,
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
 * left out. Each field is read once. Texts are made well-formed and cut to the limit, numbers that are not finite are missing, and what no
 * JSON holds is replaced, as in records; the agent sees what is stored.
 *
 * @param changes takes what was changed
 * @throws Error naming the field, its value and the rule
 */
export function readObservation(answer: unknown, maxCharacters: number, changes: Changes): Observation {
  const given = readFields<Observation>(answer, 'observation');
  const fit = fitsText(maxCharacters, changes);
  const shown = fit(given.text, 'observation');
  const anchor = fit(given.anchor, 'anchor');
  const legalActions = Array.isArray(given.legalActions)
    ? given.legalActions.map((action) => fit(action, 'legalActions[]'))
    : given.legalActions;
  refuse(
    OBSERVATION.text(shown, 'observation.text') ??
      OBSERVATION.anchor(anchor, 'observation.anchor') ??
      OBSERVATION.legalActions(legalActions, 'observation.legalActions'),
  );
  requireSize(shown.length + (anchor?.length ?? 0), maxCharacters);
  return { text: shown, anchor, legalActions };
}

/**
 * Reads what an environment sampled as a task, as `readObservation` does.
 *
 * @throws Error naming the field, its value and the rule
 */
export function readSampledTask(answer: unknown, maxCharacters: number, changes: Changes): SampledTask {
  const { task: given, seed } = readFields<SampledTask>(answer, 'sampled');
  const task = fitJson(given, changes, 'task');
  refuse(SAMPLED_TASK.task(task, 'sampled.task') ?? SAMPLED_TASK.seed(seed, 'sampled.seed'));
  requireSize(JSON.stringify(task).length, maxCharacters);
  return { task, seed };
}

/**
 * Reads what an environment answered to a step, as `readObservation` does.
 *
 * @throws Error naming the field, its value and the rule
 */
export function readStepResult(answer: unknown, maxCharacters: number, changes: Changes): StepResult {
  const fields = readFields<StepResult>(answer, 'result');
  const { terminated, truncated, actionValid, success } = fields;
  const fit = fitsText(maxCharacters, changes);
  const reward = fitNumber(fields.reward, null, changes, 'reward');
  const rewardNames = listOr(fields.rewardNames, (name) => fit(name, 'rewardNames[]'));
  const rewardValues = listOr(fields.rewardValues, (value) =>
    Number.isNaN(value) ? value : fitNumber(value, Number.NaN, changes, 'rewardValues[]'),
  );
  const parsedAction = fit(fields.parsedAction, 'parsedAction');
  const json = fitJson(fields.info, changes, 'info');
  const info = measureSize(json) > maxCharacters ? fit(JSON.stringify(json), 'info') : json;
  refuse(
    STEP_RESULT.reward(reward, 'result.reward') ??
      STEP_RESULT.rewardNames(rewardNames, 'result.rewardNames') ??
      STEP_RESULT.rewardValues(rewardValues, 'result.rewardValues') ??
      STEP_RESULT.terminated(terminated, 'result.terminated') ??
      STEP_RESULT.truncated(truncated, 'result.truncated') ??
      STEP_RESULT.parsedAction(parsedAction, 'result.parsedAction') ??
      STEP_RESULT.actionValid(actionValid, 'result.actionValid') ??
      STEP_RESULT.success(success, 'result.success') ??
      STEP_RESULT.info(info, 'result.info'),
  );
  if (rewardValues.length !== rewardNames.length) {
    throw new Error(
      `result.rewardValues has ${rewardValues.length} values; must have one for each of the ${rewardNames.length} rewardNames`,
    );
  }
  const seen = readObservation(fields.observation, maxCharacters, changes);
  let numCharacters = (parsedAction?.length ?? 0) + measureSize(info);
  for (const name of rewardNames) numCharacters += name.length;
  requireSize(numCharacters, maxCharacters);
  return {
    observation: seen,
    reward,
    rewardNames,
    rewardValues,
    terminated,
    truncated,
    parsedAction,
    actionValid,
    success,
    info,
  };
}

/** @throws Error unless it is an object, whose fields may be anything */
function readFields<T>(answer: unknown, name: string): T {
  if (typeof answer === 'object' && answer !== null) return answer as T;
  throw new Error(describeProblem({ field: name, value: answer, rule: 'must be an object' }));
}

/** Makes a text well-formed and cuts it; a value that is no text stays as it is, and breaks its rule. */
function fitsText(maxCharacters: number, changes: Changes): <T>(value: T, path: string) => T {
  // Quotes of JSON and the other texts count, too.
  const longest = Math.floor(maxCharacters / 4);
  return <T>(value: T, path: string): T => {
    if (typeof value !== 'string') return value;
    const text = storableText(value, changes, path);
    if (text.length <= maxCharacters / 2) return text as T;
    changes.note(path, 'it was cut');
    return cutText(text, longest) as T;
  };
}

function fitNumber<T>(value: T, missing: T, changes: Changes, path: string): T {
  if (typeof value !== 'number' || Number.isFinite(value)) return value;
  changes.note(path, 'a number that is not finite was left out');
  return missing;
}

/** A value as JSON; a function, or nothing, stays what it is, and breaks the rule. */
function fitJson(value: Json, changes: Changes, path: string): Json {
  return typeof value === 'function' || value === undefined
    ? value
    : (storableJson(value, changes, path) as Json);
}

function listOr<Item>(list: readonly Item[], fit: (item: Item) => Item): readonly Item[] {
  return Array.isArray(list) ? (list as readonly Item[]).map(fit) : list;
}

function measureSize(value: Json): number {
  // undefined for a function, which breaks its rule.
  const json = JSON.stringify(value) as string | undefined;
  return value === null ? 0 : (json?.length ?? 0);
}

function refuse(problem: Problem | null): void {
  if (problem !== null) throw new Error(describeProblem(problem));
}

function requireSize(numCharacters: number, maxCharacters: number): void {
  if (numCharacters <= maxCharacters) return;
  throw new Error(`its texts have ${numCharacters} characters; must have at most ${maxCharacters}`);
}
