import { describe, expect, it } from 'vitest';
import type { EpisodeDetail } from '../api-types/schema';
import { describeContents } from './describe-contents';
import type { SavedRun } from '../as-of/saved-run';

const run = (numEpisodes: number, numEpisodesOfRun: number, fields: Partial<SavedRun> = {}): SavedRun => ({
  ...{ runId: 'r', savedAt: '2026-11-29T12:00:00Z', version: '1', answers: {} },
  contents: { numEpisodesOfRun, numDetailedUpdates: 0, hasAllUpdates: true, numLeftOut: 0 },
  episodes: Array.from({ length: numEpisodes }, () => ({}) as EpisodeDetail),
  ...fields,
});

describe('a saved page says', () => {
  it.each([
    [0, 0, 'The run has no episodes.'],
    [0, 1200, 'None of the 1,200 episodes of the run is in this page.'],
    [7, 7, 'All 7 episodes of the run are in this page.'],
    [7, 1200, 'Of 1,200 episodes of the run, this page has 7: the newest of each split.'],
  ])('how many episodes it has: %d of %d', (numEpisodes, numOfRun, text) => {
    expect(describeContents(run(numEpisodes, numOfRun))).toBe(
      `Written by retrace export --html, version 1. ${text}`,
    );
  });

  it('which lists end early', () => {
    const list = (nextCursor: string | null) => ({ items: [1, 2], nextCursor });
    const answers = { '/api/runs/r/warnings': list('a'), '/api/runs/r/validations': list(null) };
    expect(describeContents(run(1, 1, { answers }))).toMatch(/page\. It has the newest 2 warnings only\.$/);
  });
});
