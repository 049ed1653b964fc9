import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { contentChecksum } from './content-checksum.js';
import { decodeEvent, encodeEvent } from '../codec/index.js';
import { sampleEpisodeEvent, sampleEvents, sampleStep } from '../testing/index.js';

const step = sampleEpisodeEvent('StepRecorded', sampleStep());
const checksum = contentChecksum(step);

const GOLDEN = new URL('../../../../test/golden/events/', import.meta.url);

/** As Retrace computed them for the golden records when version 1 was the newest: stores have them in their rows. */
const CHECKSUMS_OF_VERSION_1 = {
  RunStarted: '49659f158fa207f3ae5ddda7f4f905a7',
  EpisodeStarted: '9038ec05d8c132f286a08658ad06fc39',
  StepRecorded: 'f7095e36ea4c266578411e3f46ea7ac9',
  UpdateApplied: '27fc6f85090070b77251abf7c9ac0c06',
};

const NO_USAGE = {
  inputTokens: null,
  cachedInputTokens: null,
  outputTokens: null,
  reasoningTokens: null,
  costUsd: null,
};

describe('contentChecksum', () => {
  it('gives a step its recorded checksum, so stored checksums stay valid', () => {
    expect(checksum).toBe('f7095e36ea4c266578411e3f46ea7ac9');
  });

  it.each(['RunStarted', 'EpisodeStarted', 'StepRecorded', 'UpdateApplied'] as const)(
    'gives a %s of schema version 1 the checksum that it had then',
    (kind) => {
      const decoded = decodeEvent(readFileSync(new URL(`${kind}.v1.bin`, GOLDEN)));
      expect(decoded.ok && contentChecksum(decoded.event)).toBe(CHECKSUMS_OF_VERSION_1[kind]);
    },
  );

  it.each([
    ['when it occurred', { ...step, occurredAtUs: 1 }],
    ['the log it lies in', { ...step, logId: step.runId }],
    ['the reason why it is untrainable', { ...step, payload: { ...step.payload, untrainable: 'x' } }],
    ['latencies', { ...step, payload: { ...step.payload, generationMs: 9, environmentMs: 9 } }],
    ['the order of fields', { ...step, payload: Object.fromEntries(Object.entries(step.payload).reverse()) }],
    [
      'the order of keys',
      { ...step, payload: { ...step.payload, info: { distanceToGoal: 6, slipped: false } } },
    ],
  ])('does not depend on %s', (_title, twin) => {
    expect(contentChecksum(twin as typeof step)).toBe(checksum);
  });

  it.each([
    ['a text', { action: 'left' }],
    ['a missing reward and 0', { reward: 0 }],
    ['a token', { tokenIds: step.payload.tokenIds.with(3, 9) }],
    ['the last bit of a logprob', { tokenLogprobs: step.payload.tokenLogprobs.with(25, -1.5000001) }],
    ['a value inside info', { info: { slipped: true, distanceToGoal: 6 } }],
    ['an empty list and an empty object', { info: [] }],
    ['a message', { messages: { input: [], output: null } }],
    ['missing usage and usage that is unknown', { usage: NO_USAGE }],
  ])('differs for %s', (_title, change) => {
    expect(contentChecksum(sampleEpisodeEvent('StepRecorded', { ...step.payload, ...change }))).not.toBe(
      checksum,
    );
  });

  it('differs between kinds, episodes and places', () => {
    const all = [...sampleEvents(), sampleEpisodeEvent('StepRecorded', sampleStep({ step: 1 }), 2)];
    expect(new Set(all.map(contentChecksum)).size).toBe(all.length);
  });

  it('is equal before encoding and after decoding', () => {
    for (const event of sampleEvents()) {
      const decoded = decodeEvent(encodeEvent(event));
      expect(decoded.ok && contentChecksum(decoded.event)).toBe(contentChecksum(event));
    }
  });
});
