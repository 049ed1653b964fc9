import { columnsOfEpisodes } from '../batch/columns-of-episodes.js';
import type { EpisodeColumns } from '../batch/episode-columns.js';
import type { EpisodeEnded, StepRecorded } from '../events/episode-events.js';
import type { AnyEvent, PayloadOf } from '../events/event.js';
import { sealEpisode } from './seal-episode.js';
import { sampleStep } from './sample-payloads.js';

/** A step as its tokens; other fields are the sample's. */
interface StepTokens {
  readonly observation: readonly number[];
  readonly action: readonly number[];
  /** Of the action tokens, nats; default −0.5 each. */
  readonly logprobs?: readonly number[];
  /** Of all tokens of the step, or one for each; default 0. */
  readonly policyVersions?: number | readonly number[];
  /** Tokens of the context before that the prompt kept; default: all of them. */
  readonly kept?: number;
  readonly fields?: Partial<StepRecorded>;
}

export interface EpisodeTokens {
  readonly episodeId?: string;
  readonly groupId?: string;
  readonly steps: readonly StepTokens[];
  /** Fields of the end; default: terminated with success, and no final observation. */
  readonly ended?: Partial<EpisodeEnded>;
}

/** Builds columns as the store's reader gives them for episodes with these tokens. */
export function columnsFromTokens(episodes: readonly EpisodeTokens[]): EpisodeColumns {
  return columnsOfEpisodes(
    episodes.map(({ episodeId, groupId = 'group', steps: tokens, ended }, e) => {
      const steps = stepsFromTokens(tokens);
      const sealed = sealEpisode(steps, {
        ...{ endReason: 'terminated', success: true, finalObservation: '' },
        ...{ finalTokenIds: new Int32Array(0), finalKeptPrefixTokens: 0 },
      });
      return { episodeId: episodeId ?? `episode-${e}`, groupId, steps, ended: { ...sealed, ...ended } };
    }),
  );
}

/** Builds columns as the store's reader gives them for these sealed episodes, from their events. */
export function columnsFromEvents(
  episodeIds: readonly string[],
  eventsByEpisode: ReadonlyMap<string, readonly AnyEvent[]>,
): EpisodeColumns {
  return columnsOfEpisodes(
    episodeIds.map((episodeId) => {
      const events = eventsByEpisode.get(episodeId) ?? [];
      const payloads = <K extends AnyEvent['kind']>(kind: K) =>
        events.filter((event) => event.kind === kind).map((event) => event.payload as PayloadOf<K>);
      const [started] = payloads('EpisodeStarted');
      const [ended] = payloads('EpisodeEnded');
      return { episodeId, groupId: started.groupId, steps: payloads('StepRecorded'), ended };
    }),
  );
}

function stepsFromTokens(tokens: readonly StepTokens[]): StepRecorded[] {
  let numContextTokens = 0;
  return tokens.map(({ observation, action, logprobs, policyVersions = 0, kept, fields }, step) => {
    const keptPrefixTokens = kept ?? numContextTokens;
    numContextTokens = keptPrefixTokens + observation.length + action.length;
    const tokenIds = Int32Array.of(...observation, ...action);
    return {
      ...sampleStep({ step, numTokens: 0, numActionTokens: 0 }),
      ...{ keptPrefixTokens, tokenIds, reward: 1, anchor: null, tokenEntropies: null },
      actionMask: Uint8Array.from(tokenIds, (_, t) => Number(t >= observation.length)),
      tokenLogprobs: Float32Array.of(...observation.map(() => 0), ...(logprobs ?? action.map(() => -0.5))),
      tokenPolicyVersions: Int32Array.from(tokenIds, (_, t) =>
        typeof policyVersions === 'number' ? policyVersions : policyVersions[t],
      ),
      ...fields,
    };
  });
}
