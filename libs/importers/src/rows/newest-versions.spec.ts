import { describe, expect, it } from 'vitest';
import { mapAll, rewards, startOf, steps } from '../testing/map-all.js';
import { SAMPLE_ROWS } from '../testing/sample-rows.js';

const at = (second: number) => `2026-01-05 10:00:0${second}.000000`;

/** A generation of Langfuse's export. */
const generation = (id: string, second: number, output: string, updatedAt?: string) => ({
  id,
  trace_id: 'trace-2',
  type: 'GENERATION',
  name: 'llm',
  start_time: at(second),
  end_time: at(second + 1),
  input: '[{"role": "user", "content": "q"}]',
  output: JSON.stringify({ role: 'assistant', content: output }),
  ...(updatedAt !== undefined && { updated_at: updatedAt }),
});

const score = (value: number, second: number) => ({
  id: 's1',
  trace_id: 'trace-2',
  name: 'ok',
  value,
  data_type: 'NUMERIC',
  source: 'API',
  observation_id: null,
  timestamp: at(second),
});

const answers = (rows: readonly unknown[]) =>
  mapAll('langfuse', rows).episodes.map((records) =>
    steps(records).map((step) => step.messages?.output?.content),
  );

describe('rows that were exported more than once', () => {
  it('are one step with the newest version of an observation, whatever the order', () => {
    const part = generation('g1', 1, 'par', at(3));
    const whole = generation('g1', 1, 'partial then whole', at(4));
    const next = generation('g2', 5, 'next', at(6));
    expect(answers([part, whole, next])).toEqual([['partial then whole', 'next']]);
    expect(answers([whole, next, part])).toEqual([['partial then whole', 'next']]);
  });

  it('are one step with the last version where no time is given', () => {
    expect(answers([generation('g1', 1, 'a'), generation('g1', 1, 'b')])).toEqual([['b']]);
  });

  it('give a score its newest value, once', () => {
    const rows = [generation('g1', 1, 'a'), score(1, 4), score(0, 3)];
    const [records] = mapAll('langfuse', rows).episodes;
    expect(rewards(records)).toMatchObject([{ id: 's1', name: 'ok', value: 1 }]);
  });

  it('give a trace its newest fields', () => {
    const trace = (name: string, updatedAt: string) => ({
      ...{ id: 'trace-2', timestamp: at(1), name, metadata: {} },
      updated_at: updatedAt,
    });
    const rows = [trace('first', at(2)), generation('g1', 1, 'a'), trace('new', at(4))];
    const [records] = mapAll('langfuse', rows).episodes;
    expect(startOf(records)).toMatchObject({ metadata: { traceName: 'new' } });
  });

  it('of agent-lightning count once', () => {
    const rows = SAMPLE_ROWS['agent-lightning'];
    expect(mapAll('agent-lightning', [...rows, ...rows])).toEqual(mapAll('agent-lightning', rows));
  });
});
