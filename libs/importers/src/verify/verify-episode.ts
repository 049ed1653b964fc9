import { isJsonObject } from '@retrace/trajectory';
import { known, looseText } from '../fields.js';
import type { WireEnd, WireEpisode, WireRecord, WireStep } from '@retrace/recording';
import type { ReplayedEpisode, ReplayedStep, ReplayEnvironment } from './replay.js';

/** A difference between a dump and the replay of its actions. */
export interface Divergence {
  readonly step: number;
  readonly field: 'observation' | 'reward' | 'end';
  readonly recorded: string;
  readonly replayed: string;
}

/** The outcome of a verification; `equal` has the records with what the dump lacked. */
export type Verification =
  | { readonly kind: 'equal'; readonly records: readonly WireRecord[]; readonly numFilled: number }
  | {
      readonly kind: 'diverged';
      readonly records: readonly WireRecord[];
      readonly divergence: Divergence;
    }
  | { readonly kind: 'unverified'; readonly records: readonly WireRecord[]; readonly reason: string };

/** Tags of verified episodes, so that SQL finds them. */
export const VERIFIED_TAG = 'replay-equal';
export const DIVERGED_TAG = 'replay-diverged';

/** Two rewards count as equal within this; dumps round them. */
const REWARD_TOLERANCE = 1e-6;

/**
 * Plays the actions of an episode again and compares each observation. Where all are equal, the rewards, flags and the last observation
 * that the dump lacks are those of the replay. Where one differs, the episode stays as it was in the dump.
 *
 * Where several beginnings have the recorded first observation, all are played, and nothing is taken unless they agree.
 */
export async function verifyEpisode(
  records: readonly WireRecord[],
  environment: ReplayEnvironment,
): Promise<Verification> {
  const start = records.find((record) => record.type === 'episode');
  const steps = records.filter((record) => record.type === 'step');
  if (start === undefined || steps.length === 0) return unverified(records, 'it has no steps');
  const beginnings = await environment.begin({
    task: start.task,
    seed: start.environmentSeed ?? undefined,
    member: start.groupMember ?? 0,
    itemId: findItemId(start),
    observation: steps[0].observation ?? '',
  });
  if (beginnings.length === 0) return unverified(records, 'no task of the environment begins like it');
  const replays: Replay[] = [];
  const comparable = environment.comparable.bind(environment);
  for (const begin of beginnings) replays.push(await replay(await begin(), steps, comparable));
  const equal = replays.filter(({ divergence }) => divergence === null);
  if (equal.length === 0) return diverged(records, replays[0]);
  if (new Set(equal.map(({ answers }) => JSON.stringify(answers))).size > 1) {
    return unverified(records, 'several tasks begin like it and give other rewards');
  }
  return fill(records, equal[0].answers);
}

interface Replay {
  readonly answers: readonly ReplayedStep[];
  readonly divergence: Divergence | null;
}

async function replay(
  episode: ReplayedEpisode,
  steps: readonly WireStep[],
  comparable: (observation: string) => string,
): Promise<Replay> {
  const answers: ReplayedStep[] = [];
  let observation = episode.observation;
  for (const [index, step] of steps.entries()) {
    if (answers.at(-1)?.terminated === true || answers.at(-1)?.truncated === true) {
      return { answers, divergence: differs(index, 'end', 'another step', 'the episode is over') };
    }
    const recorded = step.observation ?? '';
    if (comparable(recorded) !== comparable(observation)) {
      return { answers, divergence: differs(index, 'observation', recorded, observation) };
    }
    const answer = await episode.step(step.action ?? '');
    answers.push(answer);
    const given = step.reward;
    if (typeof given === 'number' && Math.abs(given - (answer.reward ?? NaN)) > REWARD_TOLERANCE) {
      return { answers, divergence: differs(index, 'reward', `${given}`, `${answer.reward}`) };
    }
    observation = answer.observation;
  }
  return { answers, divergence: null };
}

function fill(records: readonly WireRecord[], answers: readonly ReplayedStep[]): Verification {
  let numFilled = 0;
  const last = answers[answers.length - 1];
  const filled = records.map((record): WireRecord => {
    if (record.type === 'step') {
      if (record.reward === undefined) numFilled++;
      return filledStep(record, answers[record.step]);
    }
    if (record.type === 'end') return filledEnd(record, last);
    return record.type === 'episode' ? withTag(record, VERIFIED_TAG) : record;
  });
  return { kind: 'equal', records: filled, numFilled };
}

/** Fills in the fields that the dump does not have. */
function filledStep(step: WireStep, answer: ReplayedStep): WireStep {
  const { reward, rewards, terminated, truncated, parsedAction, actionValid } = answer;
  return known({
    ...step,
    reward: step.reward ?? reward,
    rewards: step.rewards ?? (Object.keys(rewards).length === 0 ? undefined : rewards),
    terminated: step.terminated ?? terminated,
    truncated: step.truncated ?? truncated,
    parsedAction: step.parsedAction ?? parsedAction,
    actionValid: step.actionValid ?? actionValid,
  });
}

function filledEnd(end: WireEnd, last: ReplayedStep): WireEnd {
  const base = { ...end, finalObservation: end.finalObservation ?? last.observation };
  if (last.terminated) {
    const { detail: _, ...rest } = base;
    return known({ ...rest, endReason: 'terminated', success: end.success ?? last.success ?? undefined });
  }
  const detail = last.truncated ? "the environment's own limit of steps" : base.detail;
  return known({
    ...base,
    endReason: 'truncated',
    detail,
    success: end.success ?? last.success ?? undefined,
  });
}

function diverged(records: readonly WireRecord[], { divergence }: Replay): Verification {
  const tagged = records.map((record) =>
    record.type === 'episode' ? withTag(record, DIVERGED_TAG) : record,
  );
  return {
    kind: 'diverged',
    records: tagged,
    divergence: divergence ?? differs(0, 'end', 'unknown', 'unknown'),
  };
}

function unverified(records: readonly WireRecord[], reason: string): Verification {
  return { kind: 'unverified', records, reason };
}

function withTag(start: WireEpisode, tag: string): WireEpisode {
  return { ...start, tags: [...(start.tags ?? []), tag] };
}

function findItemId({ task }: WireEpisode): string | undefined {
  return isJsonObject(task) ? looseText(task.itemId) : undefined;
}

/** Differences are shown by their beginnings; observations may be megabytes. */
const SHOWN_CHARACTERS = 300;

function differs(step: number, field: Divergence['field'], recorded: string, replayed: string): Divergence {
  return {
    step,
    field,
    recorded: recorded.slice(0, SHOWN_CHARACTERS),
    replayed: replayed.slice(0, SHOWN_CHARACTERS),
  };
}
