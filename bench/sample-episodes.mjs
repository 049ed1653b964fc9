/** What the store's figures are taken with: episodes of steps with 1 kB of random text and 256 tokens, half of them sampled. */
import { randomBytes } from 'node:crypto';
import { episodeIdFor, newEpisodeEvent, sealEpisode } from '@retrace/trajectory';

export const STEPS_PER_EPISODE = 6;
export const EVENTS_PER_EPISODE = STEPS_PER_EPISODE + 2;
export const TOKENS_PER_STEP = 256;

/** A step's columns as typed arrays (ids, logprobs and policy versions of 4 bytes, mask of 1) and 1,024 bytes of text. */
export const STEP_BYTES = 1024 + TOKENS_PER_STEP * (4 + 4 + 4 + 1);

const VOCABULARY = 150_000;
const NUM_OBSERVED = TOKENS_PER_STEP / 2;

/** Distinct steps; they come again only when no compressed block could still see the one before. */
const NUM_DISTINCT = 6_000;

/** Six random bits a character: what no compressor makes smaller than three quarters. */
const randomText = (length) => randomBytes((length * 3) / 4).toString('base64url');

function newStep(ordinal, { numTokens, numObserved, textLength }) {
  const step = ordinal % STEPS_PER_EPISODE;
  const isLast = step === STEPS_PER_EPISODE - 1;
  const sampled = (value) =>
    Float32Array.from({ length: numTokens }, (_, t) => (t < numObserved ? 0 : value()));
  return {
    step,
    observation: randomText((textLength * 3) / 4),
    action: randomText(textLength / 4),
    parsedAction: textLength > 0 ? 'move' : null,
    actionValid: true,
    anchor: null,
    reward: isLast ? 1 : null,
    rewardNames: [],
    rewardValues: new Float64Array(0),
    terminated: isLast,
    truncated: false,
    info: {},
    keptPrefixTokens: step * numTokens,
    sampling: { temperature: 1, topK: 0, topP: 1, greedy: false, maxNewTokens: 128 },
    engine: 'bench',
    model: 'bench',
    tokenizerHash: '0',
    logprobMode: 'processed',
    generationMs: 1,
    environmentMs: 0,
    snapshot: null,
    tokenIds: Int32Array.from({ length: numTokens }, () => Math.floor(Math.random() * VOCABULARY)),
    actionMask: Uint8Array.from({ length: numTokens }, (_, t) => (t < numObserved ? 0 : 1)),
    tokenLogprobs: sampled(() => 3 * Math.log(Math.random())),
    tokenRawLogprobs: null,
    tokenEntropies: null,
    tokenPolicyVersions: new Int32Array(numTokens).fill(3),
  };
}

const STEP_SHAPE = { numTokens: TOKENS_PER_STEP, numObserved: NUM_OBSERVED, textLength: 1024 };
const newSteps = (count, shape) => Array.from({ length: count }, (_, i) => newStep(i, shape));

/** Makes the events of one episode after another; what is random in them was made beforehand, so that events cost little to make. */
export class EpisodeSource {
  eventsPerEpisode = EVENTS_PER_EPISODE;

  /** @param ids `{ logId, runId }` */
  constructor(ids, { numDistinct = NUM_DISTINCT } = {}) {
    this.ids = ids;
    this.steps = newSteps(numDistinct, STEP_SHAPE);
  }

  /** The events of the `ordinal`-th episode, each made when it is asked for: its start, six steps and its end. */
  *episode(ordinal) {
    const from = (ordinal * STEPS_PER_EPISODE) % this.steps.length;
    const steps = this.steps.slice(from, from + STEPS_PER_EPISODE);
    const { logId, runId } = this.ids;
    const episodeId = episodeIdFor({ runId, ordinal });
    const occurredAtUs = Date.now() * 1000;
    const event = (kind, seq, payload) =>
      newEpisodeEvent({ kind, logId, runId, episodeId, seq, occurredAtUs, payload });
    const started = {
      groupId: `group ${Math.floor(ordinal / 8)}`,
      groupSize: 8,
      groupMember: ordinal % 8,
      environment: 'bench',
      task: {},
      environmentSeed: ordinal,
      samplingSeed: ordinal,
      split: 'train',
      agent: 'policy',
      forkedFrom: null,
    };
    const ended = sealEpisode(steps, {
      endReason: 'terminated',
      success: true,
      finalObservation: '',
      finalTokenIds: new Int32Array(0),
      finalKeptPrefixTokens: 0,
    });
    yield event('EpisodeStarted', 0, started);
    for (const [i, payload] of steps.entries()) yield event('StepRecorded', i + 1, payload);
    yield event('EpisodeEnded', STEPS_PER_EPISODE + 1, ended);
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

  /** The rewards of the `ordinal`-th episode, each made when it is asked for. */
  *episode(ordinal) {
    const { logId, runId } = this.ids;
    const episodeId = episodeIdFor({ runId, ordinal });
    const occurredAtUs = Date.now() * 1000;
    for (let seq = 0; seq < REWARDS_PER_EPISODE; seq++) {
      const payload = { step: seq, name: 'exact', value: seq % 2, source: 'bench', rationale: '' };
      yield newEpisodeEvent({ kind: 'RewardAssigned', logId, runId, episodeId, seq, occurredAtUs, payload });
    }
  }
}
