import { reActAction } from '@retrace/agents';
import { answersAgree, statesNumber } from '@retrace/rewards/answers';
import { isJsonObject, type Json } from '@retrace/trajectory';
import type { Environment, Observation, ResetOptions, StepResult } from '../environment.js';
import { EnvironmentError } from '../errors.js';
import { INVALID_ACTION_NAMES, INVALID_ACTION_REWARD, INVALID_ACTION_VALUES } from '../invalid-action.js';
import { SnapshotFields } from '../snapshot-fields.js';

/** A question as a row of verl's data has it; other fields of the row are kept for rewards. */
export interface QuestionTask {
  readonly prompt: readonly { readonly role: string; readonly content: string }[];
  readonly reward_model?: { readonly ground_truth?: Json };
}

const OVER: Observation = { text: '', anchor: null, legalActions: null };
const ANSWER_NAMES = ['answer'];
const NO_PARTS = { rewardNames: [], rewardValues: [] };

/**
 * Asks one question and ends with the answer. The observation is the texts of the prompt's messages, a blank line between them. Reward and success are
 * 1 where the answer agrees with `reward_model.ground_truth`, and unknown where the row has none: rewards of the recipe can judge those. An
 * empty answer is invalid, and so is one that states no number where a number is asked for.
 */
export class Question implements Environment {
  private task: QuestionTask | null = null;
  private over = false;

  /** The first reference answer; '' where there is none. */
  get reference(): string {
    return (this.task && listReferences(this.task)?.[0]) ?? '';
  }

  reset({ task }: ResetOptions): Observation {
    this.task = readQuestionTask(task);
    this.over = false;
    return toObservation(this.task);
  }

  step(action: string): StepResult {
    if (this.task === null) {
      throw new EnvironmentError('NOT_RESET', 'reset the environment before the first step');
    }
    if (this.over) {
      throw new EnvironmentError('EPISODE_OVER', 'the episode is over: reset before the next step');
    }
    this.over = true;
    const answer = statedAnswer(action);
    const references = listReferences(this.task);
    const isNumber = references?.every(statesNumber) ?? false;
    const success = references && references.some((reference) => answersAgree(answer, reference));
    const actionValid = answer !== '' && (!isNumber || success === true || statesNumber(answer));
    const end = { observation: OVER, terminated: true, truncated: false, success, info: null };
    if (!actionValid) {
      const reward = INVALID_ACTION_REWARD;
      const parts = { rewardNames: INVALID_ACTION_NAMES, rewardValues: INVALID_ACTION_VALUES };
      return { ...end, ...parts, reward, parsedAction: null, actionValid };
    }
    const reward = success === null ? null : Number(success);
    const parts = reward === null ? NO_PARTS : { rewardNames: ANSWER_NAMES, rewardValues: [reward] };
    return { ...end, ...parts, reward, parsedAction: answer, actionValid };
  }

  snapshot(): Json {
    if (this.task === null) {
      throw new EnvironmentError('NOT_RESET', 'reset the environment before a snapshot');
    }
    return { world: 'question', task: this.task as unknown as Json, over: this.over };
  }

  restore(snapshot: Json): Observation {
    const fields = new SnapshotFields('question', snapshot);
    const over = fields.boolean('over');
    this.task = readQuestionTask(fields.task);
    this.over = over;
    return over ? OVER : toObservation(this.task);
  }

  close(): void {
    this.over = true;
  }
}

function toObservation({ prompt }: QuestionTask): Observation {
  return { text: prompt.map(({ content }) => content).join('\n\n'), anchor: null, legalActions: null };
}

/** @throws EnvironmentError `INVALID_TASK` unless the task has a prompt of messages with texts */
export function readQuestionTask(task: Json): QuestionTask {
  const fault = questionFault(task);
  if (fault === null) return task as unknown as QuestionTask;
  throw new EnvironmentError('INVALID_TASK', `task: ${fault}`);
}

/** Says which field of a row breaks which rule; null for none. */
export function questionFault(task: Json): string | null {
  const prompt = isJsonObject(task) ? task.prompt : undefined;
  if (!Array.isArray(prompt) || prompt.length === 0) {
    return `field "prompt": got ${shown(prompt)}, must be a list of messages { role, content }`;
  }
  for (const [at, message] of (prompt as readonly Json[]).entries()) {
    for (const key of ['role', 'content']) {
      const value = isJsonObject(message) ? message[key] : undefined;
      if (typeof value !== 'string')
        return `field "prompt[${at}].${key}": got ${shown(value)}, must be a text`;
    }
  }
  return null;
}

/** An answer after `####`, as GSM8K has it, in `<answer>`, or after `Action:`; else the whole text. */
function statedAnswer(text: string): string {
  const mark = text.lastIndexOf('####');
  if (mark !== -1) return text.slice(mark + 4).trim();
  const open = text.lastIndexOf('<answer>');
  if (open !== -1)
    return text
      .slice(open + '<answer>'.length)
      .split('</answer>', 1)[0]
      .trim();
  return (reActAction(text) ?? text).trim();
}

/** The reference answers, of which any counts; null where there are none, or not as text or number. */
function listReferences({ reward_model: model }: QuestionTask): readonly string[] | null {
  const truth = model?.ground_truth;
  const list: readonly Json[] = Array.isArray(truth) ? truth : truth === undefined ? [] : [truth];
  const texts = list.filter((each) => typeof each === 'string' || typeof each === 'number').map(String);
  return texts.length > 0 && texts.length === list.length ? texts : null;
}

function shown(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 80);
}
