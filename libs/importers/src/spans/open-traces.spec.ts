import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { completedTraceRecords } from './completed-trace.js';
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
    idleMs: 60_000,
    settleMs: 2000,
    maxSpans,
    maxCharacters: 1e6,
    nowMs: () => nowMs,
  });
  const add = (spans: readonly OtelSpan[], mark = 1) => traces.add({ scope: 'run', spans, mark });
  return { traces, add, wait: (ms: number) => (nowMs += ms) };
}

const actions = (trace: CompletedTrace) =>
  completedTraceRecords(trace).episodes.flatMap((records) =>
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
          const { traces, add, wait } = openTraces();
          for (let at = 0; at < shuffled.length; at += size) {
            expect(add(shuffled.slice(at, at + size))).toEqual([]);
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
    const { traces, add, wait } = openTraces();
    add([chat(2)]);
    wait(59_000);
    expect(traces.takeComplete()).toEqual([]);
    wait(1000);
    expect(traces.takeComplete().map(actions)).toEqual([['answer 2']]);
  });

  it('take spans that come after their end as an episode whose parent is the trace’s', () => {
    const { traces, add, wait } = openTraces();
    add([span(1, null), chat(2)]);
    wait(2000);
    traces.takeComplete();
    add([chat(3)]);
    wait(60_000);
    const [late] = traces.takeComplete();
    expect(late.isLate).toBe(true);
    expect(completedTraceRecords(late).episodes[0][0]).toMatchObject({
      ...{ type: 'episode', episode: `${T}/late-3`, parentEpisode: T },
    });
  });

  it('count a span that is sent again once, before and after the trace is complete', () => {
    const { traces, add, wait } = openTraces();
    add([span(1, null), chat(2), { ...chat(3), endUs: undefined }]);
    add([chat(2), chat(3)]);
    expect(traces.size).toBe(3);
    wait(2000);
    expect(traces.takeComplete().map(actions)).toEqual([['answer 2', 'answer 3']]);
    add([chat(2), chat(3)]);
    expect(traces.size).toBe(0);
  });

  it('of different scopes are different traces', () => {
    const { traces } = openTraces();
    for (const scope of ['one', 'two']) traces.add({ scope, spans: [chat(2)], mark: 1 });
    expect(traces.numTraces).toBe(2);
  });

  it('can be completed with some of their spans, as they were before a restart; the others stay open', () => {
    const { traces, add } = openTraces();
    add([span(1, null), chat(2)], 4);
    add([chat(3)], 5);
    const taken = traces.takeSpans('run', T, new Set(['1', '2', '9']));
    expect(taken).toMatchObject({ isLate: false, mark: 4, spans: [{ spanId: '1' }, { spanId: '2' }] });
    expect(traces.size).toBe(1);
    expect(traces.takeSpans('run', T, new Set(['1']))).toBeNull();
    expect(traces.takeMarked(4)).toMatchObject([{ isLate: true, spans: [{ spanId: '3' }] }]);
    expect([traces.size, traces.lowestMark]).toEqual([0, null]);
  });

  it('hold a bounded number of spans: the trace that was quiet longest is completed first', () => {
    const { traces, add } = openTraces(3);
    const ids = ['a', 'b', 'c'].map((letter) => letter.repeat(32));
    add([chat(1, ids[0]), chat(2, ids[1]), chat(3, ids[0])]);
    const done = add([chat(4, ids[2])]);
    expect(done.map(({ traceId }) => traceId)).toEqual([ids[1]]);
    expect(traces.size).toBe(3);
  });

  it('without a call of a model are no episode, and say so', () => {
    const { traces, add, wait } = openTraces();
    add([span(1, null)]);
    wait(2000);
    expect(traces.takeComplete().map(completedTraceRecords)).toMatchObject([
      { episodes: [], skipped: [{ code: 'NO_AGENT_TURN' }] },
    ]);
  });
});
