import { describe, expect, it } from 'vitest';
import { mapAll, steps } from '../testing/map-all.js';

/** A generation of Langfuse, as its export has it. */
const generation = (trace: string, id: number, input: unknown, answer: string) => ({
  id: `g${id}`,
  trace_id: trace,
  type: 'GENERATION',
  name: 'llm',
  start_time: `2026-01-05 10:00:0${id}.000000`,
  end_time: `2026-01-05 10:00:0${id}.500000`,
  input: JSON.stringify(input),
  output: JSON.stringify({ role: 'assistant', content: answer }),
});
const system = (content: string) => ({ role: 'system', content });
const user = (content: string) => ({ role: 'user', content });
const assistant = (content: string) => ({ role: 'assistant', content });

const stepsOf = (rows: readonly unknown[]) =>
  mapAll('langfuse', rows).episodes.map((records) =>
    steps(records).map(({ messages, info }) => ({ input: messages?.input, info })),
  );

describe('a trace whose prompt does not go on from the one before', () => {
  // The fixture 07-import-rewritten-history.
  it('says so in the info of the step, whose input is the whole prompt', () => {
    const refund = user('refund for order 7');
    const [handoff, compacted] = stepsOf([
      generation('h1', 1, [system('Route.'), refund], 'billing'),
      generation('h1', 3, [system('You do billing.'), refund], 'Refunded.'),
      generation('h2', 1, [system('Be brief.'), user('q1')], 'a1'),
      generation('h2', 3, [system('Be brief.'), user('q1'), assistant('a1'), user('q2')], 'a2'),
      generation('h2', 5, [system('Be brief.'), user('Summary: q1 a1 q2 a2'), user('q3')], 'a3'),
    ]);
    expect(handoff).toEqual([
      { input: [system('Route.'), refund], info: undefined },
      { input: [system('You do billing.'), refund], info: { keptMessages: 0 } },
    ]);
    expect(compacted.slice(1)).toEqual([
      { input: [user('q2')], info: undefined },
      {
        input: [system('Be brief.'), user('Summary: q1 a1 q2 a2'), user('q3')],
        info: { keptMessages: 0 },
      },
    ]);
  });

  it('says nothing where the source did not record the prompt', () => {
    const [found] = stepsOf([
      generation('t', 1, [user('q1')], 'a1'),
      { ...generation('t', 3, null, 'a2'), input: null },
      generation('t', 5, [user('q1'), assistant('a1'), assistant('a2'), user('q3')], 'a3'),
    ]);
    expect(found.map(({ info }) => info)).toEqual([undefined, undefined, undefined]);
    expect(found[2].input).toEqual([user('q3')]);
  });
});

describe('the tools of a call', () => {
  it('are kept where they change', () => {
    const tool = (name: string) => ({ type: 'function', function: { name, parameters: {} } });
    const call = (id: number, tools: unknown) =>
      generation('t', id, { messages: [user('q')], ...(tools === undefined ? {} : { tools }) }, 'a');
    const [found] = stepsOf([
      call(1, [tool('a')]),
      call(3, [tool('a')]),
      call(5, [tool('b')]),
      call(7, undefined),
    ]);
    const tools = found.map(
      ({ info }) => (info as { toolDefinitions?: unknown } | undefined)?.toolDefinitions,
    );
    expect(tools).toEqual([[tool('a')], undefined, [tool('b')], undefined]);
  });
});
