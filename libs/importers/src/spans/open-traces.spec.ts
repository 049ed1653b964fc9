import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OpenTraces, type CompletedTrace } from './open-traces.js';
import type { OtelSpan } from './otel-span.js';

const T = '0000000000000000000000000000000b';

function span(
  id: number,
  parentId: number | null,
  attributes: Record<string, unknown> = {},
  traceId = T,
): OtelSpan {
  return {
    traceId,
    spanId: `${id}`,
    parentId: parentId === null ? null : `${parentId}`,
    name: `span ${id}`,
    startUs: 1e15 + id,
    endUs: 1e15 + id + 100,
    attributes,
    events: [],
    isError: false,
    statusMessage: '',
    sequence: 0,
    service: '',
  };
}

const chat = (id: number, traceId = T) =>
  span(
    id,
    1,
    {
      'gen_ai.operation.name': 'chat',
      'gen_ai.output.messages': `[{"role":"assistant","parts":[{"type":"text","content":"answer ${id}"}]}]`,
    },
    traceId,
  );

/** Open traces with a clock that the test moves. */
function openTraces(maxSpans = 1000) {
  let nowMs = 0;
  const traces = new OpenTraces({
    quietMs: 60_000,
    settleMs: 2000,
    maxSpans,
    maxCharacters: 1e6,
    nowMs: () => nowMs,
  });
  return { traces, wait: (ms: number) => (nowMs += ms) };
}

const actions = ({ episodes }: CompletedTrace) =>
  episodes.flatMap((records) =>
    records.flatMap((record) => (record.type === 'step' ? [record.messages?.output?.content] : [])),
  );

describe('open traces', () => {
  it('are one episode with their steps in order of time, in whatever order and batches the spans come', () => {
    const spans = [span(1, null), chat(2), chat(3), chat(4), chat(5)];
    fc.assert(
      fc.property(
        fc.shuffledSubarray(spans, { minLength: 5 }),
        fc.integer({ min: 1, max: 5 }),
        (shuffled, size) => {
          const { traces, wait } = openTraces();
          for (let at = 0; at < shuffled.length; at += size) {
            expect(traces.add(shuffled.slice(at, at + size))).toEqual([]);
            wait(1000);
          }
          expect(traces.takeComplete()).toEqual([]);
          wait(2000);
          const [trace] = traces.takeComplete();
          expect(actions(trace)).toEqual(['answer 2', 'answer 3', 'answer 4', 'answer 5']);
          expect(traces.size).toBe(0);
        },
      ),
    );
  });

  it('without root are complete after the quiet time', () => {
    const { traces, wait } = openTraces();
    traces.add([chat(2)]);
    wait(59_000);
    expect(traces.takeComplete()).toEqual([]);
    wait(1000);
    expect(traces.takeComplete().map(actions)).toEqual([['answer 2']]);
  });

  it('take spans that come after their end as an episode whose parent is the trace’s', () => {
    const { traces, wait } = openTraces();
    traces.add([span(1, null), chat(2)]);
    wait(2000);
    traces.takeComplete();
    traces.add([chat(3)]);
    wait(60_000);
    const [{ episodes }] = traces.takeComplete();
    expect(episodes[0][0]).toMatchObject({ type: 'episode', episode: `${T}/late-1`, parentEpisode: T });
  });

  it('hold a bounded number of spans: the trace that was quiet longest is completed first', () => {
    const { traces } = openTraces(3);
    const ids = ['a', 'b', 'c'].map((letter) => letter.repeat(32));
    traces.add([chat(1, ids[0]), chat(2, ids[1]), chat(3, ids[0])]);
    const done = traces.add([chat(4, ids[2])]);
    expect(done.map(({ traceId }) => traceId)).toEqual([ids[1]]);
    expect(traces.size).toBe(3);
  });

  it('without a call of a model are no episode, and say so', () => {
    const { traces, wait } = openTraces();
    traces.add([span(1, null)]);
    wait(2000);
    expect(traces.takeComplete()).toMatchObject([{ episodes: [], skipped: [{ code: 'NO_AGENT_TURN' }] }]);
  });
});
