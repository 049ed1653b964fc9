import type { RunState } from '@retrace/trajectory';
import { describe, expect, it } from 'vitest';
import { selectRun } from './select-run.js';

/** Runs as a log lists them, from oldest to newest. */
const runs = [
  ['0198c0de-0000-7000-8000-00000000aaaa', 'bandit-ppo', 3],
  ['0198c0de-0000-7000-8000-11111111aaaa', 'bandit-ppo', 0],
  ['0198c0df-0000-7000-8000-22222222bbbb', 'collect-bandit-random', 0],
].map(([runId, name, numUpdates]) => ({
  runId,
  started: { name },
  updates: { numUpdates },
})) as never as readonly RunState[];

const find = (wanted: string) => selectRun(runs, wanted).runId;

describe('selectRun', () => {
  it('finds a run by its whole id, by its beginning, and by the last 8 characters, which pages show', () => {
    expect(find(runs[1].runId)).toBe(runs[1].runId);
    expect(find('0198c0df')).toBe(runs[2].runId);
    expect(find('1111aaaa')).toBe(runs[1].runId);
  });

  it('takes `latest` as the newest run that has what the command needs', () => {
    expect(find('latest')).toBe(runs[2].runId);
    const has = ({ updates }: RunState) => updates.numUpdates > 0;
    expect(selectRun(runs, 'latest', { needs: { has, lacking: 'has an update' } }).runId).toBe(runs[0].runId);
    expect(() =>
      selectRun(runs.slice(1), 'latest', { needs: { has, lacking: 'here has an update yet' } }),
    ).toThrow('run "latest" not found: no run here has an update yet; see "retrace runs"');
  });

  it('refuses part of several ids, and lists the runs that are meant', () => {
    expect(() => find('aaaa')).toThrow(
      `run "aaaa" is ambiguous; use more characters of one of ${runs[0].runId} (bandit-ppo), ${runs[1].runId} (bandit-ppo)`,
    );
    expect(() => find('0198')).toThrow(/^run "0198" is ambiguous; .*22222222bbbb \(collect-bandit-random\)$/);
  });

  it.each(['none', '', 'aaa', '0198c0de-0000-7000-8000-333333333333'])('does not find "%s"', (wanted) => {
    expect(() => find(wanted)).toThrow(`run "${wanted}" not found; see "retrace runs"`);
  });

  it('says which run it chose by anything but its whole id', () => {
    const chosen: string[] = [];
    const onChosen = (wanted: string, { runId }: RunState) => chosen.push(`${wanted} is ${runId}`);
    for (const wanted of [runs[0].runId, '1111aaaa', 'latest']) selectRun(runs, wanted, { onChosen });
    expect(chosen).toEqual([`1111aaaa is ${runs[1].runId}`, `latest is ${runs[2].runId}`]);
  });
});
