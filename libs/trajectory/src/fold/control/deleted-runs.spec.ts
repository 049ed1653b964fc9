import { describe, expect, it } from 'vitest';
import { sampleControlEvent } from '../../testing/sample-events.js';
import { DeletedRuns } from './deleted-runs.js';

describe('DeletedRuns', () => {
  const deletion = sampleControlEvent('RunDeleted', { controlEnd: 10, trajectoryEnds: [5, 0] });
  const { runId } = deletion;
  const step = { kind: 'StepRecorded', runId };

  it('covers the records of the run before the ends, in their partition', () => {
    const deleted = new DeletedRuns();
    expect(deleted.cover(step, 'trajectories', 0, 0)).toBe(false);
    deleted.add(deletion);
    expect(deleted.cover(step, 'trajectories', 0, 4)).toBe(true);
    expect(deleted.cover(step, 'trajectories', 0, 5)).toBe(false);
    expect(deleted.cover(step, 'trajectories', 1, 0)).toBe(false);
    expect(deleted.cover(step, 'trajectories', 7, 0)).toBe(false);
    expect(deleted.cover({ kind: 'RunStarted', runId }, 'control', 0, 9)).toBe(true);
    expect(deleted.cover({ kind: 'RunStarted', runId: 'other' }, 'control', 0, 9)).toBe(false);
  });

  it('never covers a RunDeleted', () => {
    const deleted = new DeletedRuns();
    deleted.add(deletion);
    expect(deleted.cover({ kind: 'RunDeleted', runId }, 'control', 0, 3)).toBe(false);
  });

  it('takes the furthest ends of a run that was deleted again, in any order', () => {
    const later = sampleControlEvent('RunDeleted', { controlEnd: 30, trajectoryEnds: [3, 8] });
    for (const events of [
      [deletion, later],
      [later, deletion],
    ]) {
      const deleted = new DeletedRuns();
      events.forEach((event) => deleted.add(event));
      expect(deleted.cover(step, 'trajectories', 0, 4)).toBe(true);
      expect(deleted.cover(step, 'trajectories', 1, 7)).toBe(true);
      expect(deleted.cover({ kind: 'RunEnded', runId }, 'control', 0, 29)).toBe(true);
    }
  });

  it('covers every record of a deleted episode, wherever it is in the log, and no other of its run', () => {
    const deleted = new DeletedRuns();
    const episodes = sampleControlEvent('EpisodesDeleted');
    const [episodeId] = episodes.payload.episodeIds;
    deleted.add(episodes);
    deleted.add(episodes);
    expect(deleted.allEpisodes.map((episode) => episode.episodeId)).toEqual(episodes.payload.episodeIds);
    expect(deleted.isEmpty).toBe(false);
    expect(deleted.reach('trajectories', 7, 1e12)).toBe(true);
    expect(deleted.cover({ ...step, episodeId }, 'trajectories', 7, 1e12)).toBe(true);
    expect(deleted.cover({ ...step, episodeId: 'other' }, 'trajectories', 0, 0)).toBe(false);
    expect(deleted.cover({ ...step, runId: 'other', episodeId }, 'trajectories', 0, 0)).toBe(false);
    expect(deleted.cover({ kind: 'EpisodesDeleted', runId }, 'control', 0, 0)).toBe(false);
  });

  it('keeps deleted episodes deleted when their run was deleted, too', () => {
    const deleted = new DeletedRuns();
    deleted.add(deletion);
    expect(deleted.cover({ kind: 'EpisodesDeleted', runId }, 'control', 0, 3)).toBe(false);
  });

  it('reaches as far as the furthest end of any run', () => {
    const deleted = new DeletedRuns();
    expect(deleted.reach('control', 0, 0)).toBe(false);
    deleted.add(deletion);
    deleted.add({ ...deletion, runId: 'other', payload: { ...deletion.payload, controlEnd: 20 } });
    expect(deleted.reach('control', 0, 19)).toBe(true);
    expect(deleted.reach('control', 0, 20)).toBe(false);
    expect(deleted.reach('trajectories', 1, 0)).toBe(false);
  });
});
