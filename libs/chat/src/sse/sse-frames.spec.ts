import { createParser } from 'eventsource-parser';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SseEvent } from './sse-event.js';
import { SseFrames, withData } from './sse-frames.js';

const newline = fc.constantFrom('\n', '\r\n', '\r');
const word = fc.string({ unit: fc.constantFrom('a', ':', ' ', 'é', '😀', '{', '}'), maxLength: 6 });
const line = fc.oneof(
  word.map((text) => `data: ${text}`),
  word.map((text) => `data:${text}`),
  fc.constantFrom('data', 'event: delta', ': comment', 'id: 7', 'event:x'),
);
/** Streams with one kind of line end each, as servers write them. */
const stream = fc
  .tuple(fc.array(fc.array(line, { minLength: 1, maxLength: 4 }), { maxLength: 6 }), newline)
  .map(([events, end]) => events.map((lines) => `${lines.join(end)}${end}${end}`).join(''));

function cut(text: string, sizes: readonly number[]): string[] {
  const parts: string[] = [];
  let at = 0;
  for (const size of sizes) {
    parts.push(text.slice(at, at + size));
    at += size;
  }
  return [...parts, text.slice(at)];
}

describe('SseFrames', () => {
  it('gives the events that eventsource-parser gives, and texts that together are the stream, however it is cut', () => {
    fc.assert(
      fc.property(stream, fc.array(fc.nat(9), { maxLength: 20 }), (text, sizes) => {
        const expected: SseEvent[] = [];
        const parser = createParser({
          onEvent: ({ event, data }) => expected.push({ event: event ?? null, data }),
        });
        parser.feed(text);
        // It waits for what may follow a carriage return.
        parser.feed(': end\n\n');
        const frames = new SseFrames();
        const found = cut(text, sizes).flatMap((part) => frames.add(part));
        const rest = frames.finish();
        const all = rest ? [...found, rest] : found;
        expect(all.map(({ raw }) => raw).join('')).toBe(text);
        // That parser gives no event whose data is empty.
        expect(all.flatMap(({ event }) => (event && event.data !== '' ? [event] : []))).toEqual(
          expected.filter(({ data }) => data !== ''),
        );
      }),
      { numRuns: 500 },
    );
  });

  it('gives what comes after the last blank line at the end', () => {
    const frames = new SseFrames();
    expect(frames.add('data: 1\n\ndata: [DONE]')).toHaveLength(1);
    expect(frames.finish()).toEqual({ raw: 'data: [DONE]', event: { event: null, data: '[DONE]' } });
    expect(frames.finish()).toBeNull();
  });
});

describe('a frame of 32 MiB', () => {
  it('is cut in time that grows with its length, whatever the size of its parts', () => {
    const frames = new SseFrames();
    const part = 'A'.repeat(1_024);
    const before = process.cpuUsage();
    frames.add('data: ');
    for (let i = 0; i < 32 * 1_024; i++) frames.add(part);
    expect(frames.heldCharacters).toBe(32 * 1_024 ** 2 + 'data: '.length);
    const [{ event }] = frames.add('\n\n');
    expect(event?.data).toHaveLength(32 * 1_024 ** 2);
    expect(frames.heldCharacters).toBe(0);
    // Half a second on a quiet machine; copying all of it again with each part took minutes.
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(5_000);
  });
});

describe('withData', () => {
  it('changes the data and leaves names, ids and comments', () => {
    const [frame] = new SseFrames().add(': note\nid: 3\nevent: delta\ndata: old\ndata: more\n\n');
    expect(withData(frame, '{"a":1}')).toBe(': note\nid: 3\nevent: delta\ndata: {"a":1}\n\n');
  });

  it('says which frames without data are no events that could be read', () => {
    const found = new SseFrames().add(
      'xata: {"a":1}\n\n{"error":{}}\n\n: ping\n\nid: 7\nretry: 9\n\nevent: x\n\ndata: 1\nnew: 2\n\n',
    );
    expect(found.map(({ isUnreadable = false }) => isUnreadable)).toEqual([
      true,
      true,
      false,
      false,
      false,
      false,
    ]);
  });
});
