import { describe, expect, it } from 'vitest';
import { mapAll, rewards, startOf } from '../testing/map-all.js';

describe('scores of Langfuse', () => {
  const generation = {
    id: 'g1',
    trace_id: 't',
    type: 'GENERATION',
    start_time: '2026-01-05 10:00:01.000000',
    input: 'q',
    output: 'a',
  };
  const score = (fields: object) => ({ trace_id: 't', source: 'EVAL', observation_id: null, ...fields });

  it('that are words are kept in the metadata, and numbers are rewards', () => {
    const rows = [
      generation,
      score({ id: 's1', name: 'tone', data_type: 'CATEGORICAL', value: null, string_value: 'polite' }),
      score({ id: 's2', name: 'grade', data_type: 'CATEGORICAL', value: 2, string_value: 'good' }),
      score({
        id: 's3',
        name: 'note',
        data_type: 'TEXT',
        value: 0,
        string_value: 'fine',
        comment: 'read twice',
      }),
      score({
        id: 's4',
        name: 'ok',
        data_type: 'BOOLEAN',
        value: 1,
        string_value: 'True',
        observation_id: 'g1',
      }),
      score({ id: 's5', name: 'kind', data_type: 'CATEGORICAL', string_value: 'x', observation_id: 'g1' }),
    ];
    const [records] = mapAll('langfuse', rows).episodes;
    expect(
      rewards(records).map(({ name, value, rationale, step }) => ({ name, value, rationale, step })),
    ).toEqual([
      { name: 'ok', value: 1, rationale: 'True', step: 0 },
      { name: 'grade', value: 2, rationale: 'good', step: null },
    ]);
    expect(startOf(records).metadata).toMatchObject({
      scores: [
        { name: 'tone', value: 'polite', source: 'langfuse/eval' },
        { name: 'note', value: 'fine', source: 'langfuse/eval', comment: 'read twice' },
        { name: 'kind', value: 'x', source: 'langfuse/eval', observationId: 'g1' },
      ],
    });
  });
});
