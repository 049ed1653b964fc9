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
 * left out. Each field is read once.
 *
 * @throws Error naming the field, its value and the rule
 */
export function readObservation(answer: unknown, maxCharacters: number): Observation {
  const { text: shown, anchor, legalActions } = fieldsOf<Observation>(answer, 'observation');
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
export function readSampledTask(answer: unknown, maxCharacters: number): SampledTask {
  const { task, seed } = fieldsOf<SampledTask>(answer, 'sampled');
  refuse(SAMPLED_TASK.task(task, 'sampled.task') ?? SAMPLED_TASK.seed(seed, 'sampled.seed'));
  requireSize(JSON.stringify(task).length, maxCharacters);
  return { task, seed };
}

/**
 * Reads what an environment answered to a step, as `readObservation` does.
 *
 * @throws Error naming the field, its value and the rule
 */
export function readStepResult(answer: unknown, maxCharacters: number): StepResult {
  const fields = fieldsOf<StepResult>(answer, 'result');
  const { observation, reward, rewardNames, rewardValues, terminated, truncated } = fields;
  const { parsedAction, actionValid, success, info } = fields;
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
  const seen = readObservation(observation, maxCharacters);
  let numCharacters = (parsedAction?.length ?? 0) + (info === null ? 0 : JSON.stringify(info).length);
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
function fieldsOf<T>(answer: unknown, name: string): T {
  if (typeof answer === 'object' && answer !== null) return answer as T;
  throw new Error(describeProblem({ field: name, value: answer, rule: 'must be an object' }));
}

function refuse(problem: Problem | null): void {
  if (problem !== null) throw new Error(describeProblem(problem));
}

function requireSize(numCharacters: number, maxCharacters: number): void {
  if (numCharacters <= maxCharacters) return;
  throw new Error(`its texts have ${numCharacters} characters; must have at most ${maxCharacters}`);
}
