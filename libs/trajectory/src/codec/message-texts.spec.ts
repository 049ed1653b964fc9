import { describe, expect, it } from 'vitest';
import { contentChecksum } from '../index.js';
import { sampleEpisodeEvent } from '../testing/index.js';
import { decodeEvent, encodeEvent, StepRecord } from './index.js';

const sample = sampleEpisodeEvent('StepRecorded');
const long = 'x'.repeat(100_000);
const messages = {
  input: [{ role: 'user', content: `${long} 😀` }],
  output: {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
  },
};

/** The sample with messages, and texts beside them. */
function stepWith(observation: string, action: string): typeof sample {
  return { ...sample, payload: { ...sample.payload, messages, observation, action } };
}

const derived = stepWith(`user: ${long} 😀`, 'f({})');

describe('the record of a step', () => {
  it('holds texts that follow from its messages once, and gives them back', () => {
    const bytes = encodeEvent(derived);
    expect(bytes.length).toBeLessThan(long.length + 5_000);
    expect(decodeEvent(bytes)).toStrictEqual({ ok: true, event: derived });
  });

  it('holds other texts beside the messages', () => {
    const other = stepWith('what the environment showed', '');
    expect(decodeEvent(encodeEvent(other))).toStrictEqual({ ok: true, event: other });
  });

  it('is read in place with the same texts', () => {
    const step = new StepRecord();
    for (const event of [derived, stepWith('other', 'f({})'), derived]) {
      expect(step.read(encodeEvent(event))).toBe(true);
      const { observation, action } = step.fields;
      const texts = [observation, action].map(({ source, start, end }) =>
        source.toString('utf8', start, end),
      );
      expect(texts).toEqual([event.payload.observation, event.payload.action]);
    }
  });

  it('has the same checksum as with its texts', () => {
    const decoded = decodeEvent(encodeEvent(derived));
    expect(decoded.ok && contentChecksum(decoded.event)).toEqual(contentChecksum(derived));
  });
});
