import { Retrace, type RetraceError } from '@retrace/client';
import { describe, expect, it } from 'vitest';
import { ApiFixture } from '../apps/api/src/testing/api-fixture.js';

describe('a server that takes only small events', () => {
  it('gets what it refused again, smaller, and all steps and the end of the episode', async () => {
    const api = await ApiFixture.start({ RETRACE_MAX_EVENT_BYTES: '65536' });
    try {
      const errors: RetraceError[] = [];
      const retrace = new Retrace({ url: api.api.url, onError: (error) => errors.push(error) });
      const run = await retrace.startRun({ name: 'small events' });
      const episode = run.episode();
      episode.step({ observation: 'short', action: 'a' });
      episode.step({ observation: 'x'.repeat(300_000), action: 'b' });
      // Token ids can't be cut.
      const ids = Array.from({ length: 100_000 }, (_, i) => (i * 7_919) % 50_000);
      episode.step({ action: 'c', tokens: { ids, mask: ids.map(() => 0) } });
      episode.step({ action: 'd' });
      episode.end({ success: true });
      expect(await retrace.flush({ timeoutMs: 100_000 })).toBe(true);
      await api.storeHasCaughtUp();
      const rows = await retrace.rows(
        "SELECT action, length(observation) AS length, untrainable LIKE '%made storable%' AS poorer, end_reason FROM steps JOIN episodes USING (run_id, episode_id) ORDER BY step",
      );
      expect(rows.map(({ action, poorer, end_reason }) => [action, Boolean(poorer), end_reason])).toEqual([
        ['a', false, 'terminated'],
        ['b', true, 'terminated'],
        ['c', true, 'terminated'],
        ['d', false, 'terminated'],
      ]);
      expect(Number(rows[1].length)).toBeGreaterThan(10_000);
      expect(await retrace.close()).toBe(true);
      expect(retrace.stats).toMatchObject({ numRefused: 0, numPoorerEpisodes: 1, numBrokenEpisodes: 0 });
    } finally {
      await api.close();
    }
  });
});
