/** The episodes that the store is measured with: steps of 1 kB of random text and 256 tokens, half of them sampled. */
import { randomBytes } from 'node:crypto';
import { episodeIdFor } from '@retrace/trajectory';
import { episodeEvent, episodeEvents, sampleStep } from '@retrace/trajectory/testing';

export const STEPS_PER_EPISODE = 6;
export const EVENTS_PER_EPISODE = STEPS_PER_EPISODE + 2;
export const TOKENS_PER_STEP = 256;

/** A step's columns as typed arrays (ids, logprobs and policy versions of 4 bytes, mask of 1) and 1,024 bytes of text. */
export const STEP_BYTES = 1024 + TOKENS_PER_STEP * (4 + 4 + 4 + 1);

const VOCABULARY = 150_000;
const NUM_OBSERVED = TOKENS_PER_STEP / 2;

/** Distinct steps; they come again only when no compressed block can still contain the one before. */
const NUM_DISTINCT = 6_000;

/** Six random bits a character, which no compressor makes smaller than three quarters. */
const randomText = (length) => randomBytes((length * 3) / 4).toString('base64url');

function newStep(ordinal) {
  const step = ordinal % STEPS_PER_EPISODE;
  const isLast = step === STEPS_PER_EPISODE - 1;
  const ofTokens = (Type, value) =>
    Type.from({ length: TOKENS_PER_STEP }, (_, t) => value(t >= NUM_OBSERVED));
  return {
    ...sampleStep({ step, numTokens: 0, numActionTokens: 0 }),
    observation: randomText(768),
    action: randomText(256),
    parsedAction: 'move',
    anchor: null,
    reward: isLast ? 1 : null,
    rewardNames: [],
    rewardValues: new Float64Array(0),
    terminated: isLast,
    info: {},
    keptPrefixTokens: step * TOKENS_PER_STEP,
    sampling: { temperature: 1, topK: 0, topP: 1, greedy: false, maxNewTokens: 128 },
    engine: 'bench',
    model: 'bench',
    tokenizerHash: '0',
    generationMs: 1,
    environmentMs: 0,
    tokenIds: ofTokens(Int32Array, () => Math.floor(Math.random() * VOCABULARY)),
    actionMask: ofTokens(Uint8Array, Number),
    tokenLogprobs: ofTokens(Float32Array, (isSampled) => (isSampled ? 3 * Math.log(Math.random()) : 0)),
    tokenEntropies: null,
    tokenPolicyVersions: ofTokens(Int32Array, () => 3),
  };
}

/** Makes the events of one episode after another. Random content is made once in advance, so that events cost little. */
export class EpisodeSource {
  eventsPerEpisode = EVENTS_PER_EPISODE;

  /** @param ids `{ logId, runId }` */
  constructor(ids, { numDistinct = NUM_DISTINCT } = {}) {
    this.ids = ids;
    this.steps = Array.from({ length: numDistinct }, (_, i) => newStep(i));
  }

  /** Returns the events of the `ordinal`-th episode: its start, six steps and its end. */
  episode(ordinal) {
    const from = (ordinal * STEPS_PER_EPISODE) % this.steps.length;
    return episodeEvents({
      ...this.ids,
      ordinal,
      steps: this.steps.slice(from, from + STEPS_PER_EPISODE),
      started: {
        groupId: `group ${Math.floor(ordinal / 8)}`,
        groupSize: 8,
        groupMember: ordinal % 8,
        environment: 'bench',
        task: {},
        environmentSeed: ordinal,
        samplingSeed: ordinal,
      },
      ended: {
        endReason: 'terminated',
        success: true,
        finalObservation: '',
        finalTokenIds: new Int32Array(0),
        finalKeptPrefixTokens: 0,
      },
    });
  }
}

const REWARDS_PER_EPISODE = 64;

/** Small events: rewards for the 64 steps of one episode after another. */
export class RewardSource {
  eventsPerEpisode = REWARDS_PER_EPISODE;

  /** @param ids `{ logId, runId }` */
  constructor(ids) {
    this.ids = ids;
  }

  /** Yields the rewards of the `ordinal`-th episode, each made when it is requested. */
  *episode(ordinal) {
    const episodeId = episodeIdFor({ runId: this.ids.runId, ordinal });
    const ids = { ...this.ids, episodeId, occurredAtUs: Date.now() * 1000 };
    for (let seq = 0; seq < REWARDS_PER_EPISODE; seq++) {
      const payload = { step: seq, name: 'exact', value: seq % 2, source: 'bench', rationale: '' };
      yield episodeEvent(ids, 'RewardAssigned', seq, payload);
    }
  }
}
