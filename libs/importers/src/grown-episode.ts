import { isJsonObject, type Json } from '@retrace/trajectory';
import type { WireMessage, WireRecord, WireReward, WireStep, WireTokens } from '@retrace/recording';
import { known } from './fields.js';

/** An episode that a run has already, ended, and of which an import has more. */
export interface GrownEpisode {
  /** The steps that the run has; it takes them as duplicates, or refuses what is another episode. */
  readonly known: readonly WireRecord[];
  /** Rewards of them and of the episode, which may come after its end. */
  readonly later: readonly WireReward[];
  /** The steps that are new, as an episode whose parent is the one that has ended; empty = none. */
  readonly more: readonly WireRecord[];
}

/**
 * Divides the records of an episode into those that a run has and those that are new. An episode that has ended takes no step, so new ones are an
 * episode `<name>/more-<first step>`: its first step has the whole prompt of its call.
 */
export function grownEpisode(records: readonly WireRecord[], numKnown: number): GrownEpisode {
  const steps = records.filter((record) => record.type === 'step');
  const rewards = records.filter((record) => record.type === 'reward');
  const isOfMore = ({ step = null }: WireReward) => step !== null && step >= numKnown;
  const more = steps.length > numKnown ? listNewRecords(records, steps, numKnown) : [];
  return {
    known: steps.slice(0, numKnown),
    later: rewards.filter((reward) => !isOfMore(reward)),
    more,
  };
}

function listNewRecords(
  records: readonly WireRecord[],
  steps: readonly WireStep[],
  numKnown: number,
): readonly WireRecord[] {
  const parent = records[0].episode;
  const episode = `${parent}/more-${numKnown}`;
  const added = steps.slice(numKnown).map((step, index) => ({ ...step, episode, step: index }));
  const [first, ...rest] = added;
  const whole = { ...withWholePrompt(first, steps.slice(0, numKnown)), episode };
  return records.flatMap((record): readonly WireRecord[] => {
    if (record.type === 'episode') return [{ ...record, episode, parentEpisode: parent }, whole, ...rest];
    if (record.type === 'end') return [{ ...record, episode, numSteps: added.length }];
    if (record.type !== 'reward') return [];
    const { step = null } = record;
    return step === null || step < numKnown ? [] : [{ ...record, episode, step: step - numKnown }];
  });
}

/** A step that begins an episode: its messages and tokens are all that its call had before it. */
function withWholePrompt(step: WireStep, before: readonly WireStep[]): WireStep {
  const { keptMessages, ...info } = readInfo(step);
  const messages = collectContext(before);
  const kept = typeof keptMessages === 'number' ? messages.slice(0, keptMessages) : messages;
  const tools = before.map((each) => readInfo(each).toolDefinitions).findLast((each) => each !== undefined);
  const merged = { ...(tools !== undefined && { toolDefinitions: tools }), ...info };
  return known<WireStep>({
    ...step,
    info: Object.keys(merged).length === 0 ? undefined : merged,
    messages: step.messages && { ...step.messages, input: [...kept, ...step.messages.input] },
    tokens: step.tokens == null ? undefined : wholeTokens(step.tokens, before),
  });
}

function collectContext(steps: readonly WireStep[]): readonly WireMessage[] {
  const context: WireMessage[] = [];
  for (const step of steps) {
    const { keptMessages } = readInfo(step);
    if (typeof keptMessages === 'number') context.length = Math.min(context.length, keptMessages);
    const { input = [], output = null } = step.messages ?? {};
    for (const message of input) context.push(message);
    if (output !== null) context.push(output);
  }
  return context;
}

/** The tokens of the whole context; undefined where those of a step before are unknown. */
function wholeTokens(tokens: WireTokens, before: readonly WireStep[]): WireTokens | undefined {
  const context: number[] = [];
  for (const { tokens: own } of before) {
    if (own == null) return undefined;
    context.length = Math.min(context.length, own.keptPrefix ?? context.length);
    for (const id of own.ids) context.push(id);
  }
  const { keptPrefix, ids, mask, logprobs, versions, ...others } = tokens;
  const kept = context.slice(0, keptPrefix ?? context.length);
  const zeros = kept.map((): 0 => 0);
  return {
    ...others,
    ids: [...kept, ...ids],
    mask: [...zeros, ...mask],
    ...(logprobs != null && { logprobs: [...zeros, ...logprobs] }),
    ...(versions != null && { versions: [...kept.map(() => versions[0] ?? -1), ...versions] }),
  };
}

function readInfo({ info }: WireStep): Readonly<Record<string, Json>> {
  return isJsonObject(info) ? (info as Readonly<Record<string, Json>>) : {};
}
