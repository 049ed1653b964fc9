import { describe, expect, it } from 'vitest';
import { episodesOf, type EpisodeEndRow } from './episode-ends.js';

const record = (
  episodeId: string,
  kind: string,
  offset: number,
  more: Partial<EpisodeEndRow> = {},
): EpisodeEndRow => ({
  episode_id: episodeId,
  kind,
  log_offset: offset,
  occurred_at: `2026-01-02 03:04:05.00000${offset % 10}`,
  group_id: 'g',
  group_member: 0,
  environment: 'bandit',
  split: 'train',
  agent: 'policy',
  environment_seed: 1,
  end_reason: '',
  success: null,
  return: null,
  num_steps: 0,
  num_tokens: 0,
  num_action_tokens: 0,
  policy_version_min: 0,
  policy_version_max: 0,
  ...more,
});

describe('episodesOf', () => {
  it('takes of each episode the first start and the first end in the log, whatever their order in the rows', () => {
    const rows = [
      record('b', 'EpisodeEnded', 9, { num_steps: 7, success: false }),
      record('b', 'EpisodeEnded', 4, { num_steps: 3, success: true, return: 0.5, end_reason: 'terminated' }),
      record('b', 'EpisodeStarted', 2, { environment_seed: 5 }),
      record('b', 'EpisodeStarted', 8, { environment_seed: 6 }),
      record('a', 'EpisodeStarted', 10, { num_steps: 0 }),
    ];
    const [b, a] = episodesOf(rows);
    expect(b).toMatchObject({
      episode_id: 'b',
      environment_seed: 5,
      started_at: '2026-01-02 03:04:05.000002',
      ended_at: '2026-01-02 03:04:05.000004',
      sealed: true,
      num_steps: 3,
      success: true,
      return: 0.5,
      end_reason: 'terminated',
    });
    expect(a).toMatchObject({
      episode_id: 'a',
      sealed: false,
      ended_at: null,
      num_steps: null,
      success: null,
    });
  });

  it('compares offsets as numbers, and leaves out an episode without its start', () => {
    const rows = [
      record('b', 'EpisodeEnded', 10, { log_offset: '10', num_steps: 2 }),
      record('b', 'EpisodeEnded', 9, { log_offset: '9', num_steps: 1 }),
      record('b', 'EpisodeStarted', 8, { log_offset: '8' }),
      record('a', 'EpisodeEnded', 3),
    ];
    expect(episodesOf(rows)).toEqual([expect.objectContaining({ episode_id: 'b', num_steps: 1 })]);
  });
});
