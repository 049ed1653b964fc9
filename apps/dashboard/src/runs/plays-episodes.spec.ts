import { describe, expect, it } from 'vitest';
import { playsEpisodes } from './plays-episodes';

const NO_EVALUATION = { everyUpdates: 0, numTestEpisodes: 0 };
const STORED = { sources: [{ from: 'run' }, { from: 'query' }] };

describe('playsEpisodes', () => {
  it('is true of a run that collects, also beside stored episodes', () => {
    expect(playsEpisodes({ evaluation: NO_EVALUATION })).toBe(true);
    expect(playsEpisodes({ data: null, imitation: null, evaluation: NO_EVALUATION })).toBe(true);
    const mixed = { sources: [...STORED.sources, { from: 'own' }] };
    expect(playsEpisodes({ data: mixed, evaluation: NO_EVALUATION })).toBe(true);
  });

  it('is true of a run on stored episodes that imitates, validates or tests', () => {
    expect(playsEpisodes({ data: STORED, imitation: {}, evaluation: NO_EVALUATION })).toBe(true);
    expect(playsEpisodes({ data: STORED, evaluation: { everyUpdates: 5, numTestEpisodes: 0 } })).toBe(true);
    expect(playsEpisodes({ data: STORED, evaluation: { everyUpdates: 0, numTestEpisodes: 9 } })).toBe(true);
  });

  it('is false of a run on stored episodes only', () => {
    expect(playsEpisodes({ data: STORED, imitation: null, evaluation: NO_EVALUATION })).toBe(false);
  });

  it('is true where the recipe is unknown', () => {
    expect(playsEpisodes(null)).toBe(true);
  });
});
