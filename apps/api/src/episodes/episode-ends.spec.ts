import { describe, expect, it } from 'vitest';
import { toEpisodeListItems, type EpisodeEndRow } from './episode-ends.js';

const record = (
  episodeId: string,
  kind: string,
  offset: number,
  more: Partial<EpisodeEndRow> = {},
): EpisodeEndRow => ({
  episodeId,
  kind,
  logOffset: offset,
  occurredAt: `2026-01-02 03:04:05.00000${offset % 10}`,
  externalId: '',
  tags: [],
  annotatedTags: '',
  groupId: 'g',
  groupMember: 0,
  environment: 'bandit',
  split: 'train',
  agent: 'policy',
  environmentSeed: 1,
  endReason: '',
  success: null,
  return: null,
  numSteps: 0,
  numTokens: 0,
  numActionTokens: 0,
  policyVersionMin: 0,
  policyVersionMax: 0,
  ...more,
});

describe('toEpisodeListItems', () => {
  it('takes of each episode the first start and the first end in the log, whatever their order in the rows', () => {
    const rows = [
      record('b', 'EpisodeEnded', 9, { numSteps: 7, success: false }),
      record('b', 'EpisodeEnded', 4, { numSteps: 3, success: true, return: 0.5, endReason: 'terminated' }),
      record('b', 'EpisodeStarted', 2, { environmentSeed: 5 }),
      record('b', 'EpisodeStarted', 8, { environmentSeed: 6 }),
      record('a', 'EpisodeStarted', 10, { numSteps: 0 }),
    ];
    const [b, a] = toEpisodeListItems(rows);
    expect(b).toMatchObject({
      episodeId: 'b',
      environmentSeed: 5,
      startedAt: '2026-01-02 03:04:05.000002',
      endedAt: '2026-01-02 03:04:05.000004',
      sealed: true,
      numSteps: 3,
      success: true,
      return: 0.5,
      endReason: 'terminated',
    });
    expect(a).toMatchObject({
      episodeId: 'a',
      sealed: false,
      endedAt: null,
      numSteps: null,
      success: null,
    });
  });

  it('compares offsets as numbers, and leaves out an episode without its start', () => {
    const rows = [
      record('b', 'EpisodeEnded', 10, { logOffset: '10', numSteps: 2 }),
      record('b', 'EpisodeEnded', 9, { logOffset: '9', numSteps: 1 }),
      record('b', 'EpisodeStarted', 8, { logOffset: '8' }),
      record('a', 'EpisodeEnded', 3),
    ];
    expect(toEpisodeListItems(rows)).toEqual([expect.objectContaining({ episodeId: 'b', numSteps: 1 })]);
  });
});
