import { describe, expect, it } from 'vitest';
import { inScript, readSavedRun } from './saved-run.js';

const RUN = '/api/runs/r';
const FACTS = { runId: 'r', savedAt: '2026-11-29T12:00:00Z', version: '1' };

/** Episodes of 1,000 characters, of two steps that come in two answers, as many of a split as are asked for. */
function api(numOfSplit: Readonly<Record<string, number>>, recipe: unknown = null) {
  const asked: string[] = [];
  const get = (path: string): Promise<unknown> => {
    asked.push(path);
    const { pathname, searchParams: query } = new URL(path, 'http://api');
    if (pathname === RUN) return Promise.resolve({ recipe });
    if (pathname === `${RUN}/totals`) return Promise.resolve({ numEpisodes: 50 });
    const [, episodeId] = /\/episodes\/([^/]+)$/.exec(pathname) ?? [];
    if (episodeId !== undefined) {
      const from = Number(query.get('fromStep') ?? 0);
      const uses = [{ runId: 'r', updateNumber: 4 }];
      const steps = [{ step: from, action: 'x'.repeat(500) }];
      return Promise.resolve({ episodeId, uses, steps, nextStep: from === 0 ? 1 : null });
    }
    const split = query.get('split');
    if (split === null) return Promise.resolve({ items: [{ updateNumber: 4 }], nextCursor: null });
    const from = Number(query.get('cursor') ?? 0);
    const to = Math.min(from + Math.min(2, Number(query.get('limit'))), numOfSplit[split] ?? 0);
    const items = Array.from({ length: to - from }, (_, i) => ({ episodeId: `${9 - from - i}-${split}` }));
    return Promise.resolve({ items, nextCursor: to < (numOfSplit[split] ?? 0) ? `${to}` : null });
  };
  return { asked, get: get as <Answer>(path: string) => Promise<Answer> };
}

const idsOf = ({ episodes }: Awaited<ReturnType<typeof readSavedRun>>) =>
  episodes.map(({ episodeId }) => episodeId);

describe('a run for a page', () => {
  it('has the newest episodes of each split, the newest first, with all their steps', async () => {
    const saved = await readSavedRun(api({ train: 7, test: 1 }), { ...FACTS, numEpisodes: 3, maxBytes: 1e6 });
    expect(idsOf(saved)).toEqual(['9-train', '9-test', '8-train', '7-train']);
    expect(saved.episodes[0]).toMatchObject({ nextStep: null, steps: [{ step: 0 }, { step: 1 }] });
    expect(saved.contents).toEqual({
      ...{ numEpisodesOfRun: 50, numDetailedUpdates: 1, hasAllUpdates: true, numTooLarge: 0 },
    });
  });

  it('leaves out episodes that do not fit, of each split the oldest first', async () => {
    const maxBytes = 20_000;
    const saved = await readSavedRun(api({ train: 9, test: 9 }), { ...FACTS, numEpisodes: 9, maxBytes });
    expect(inScript(saved).length).toBeLessThan(maxBytes);
    const ids = idsOf(saved);
    const ofTrain = ids.filter((id) => id.endsWith('train')).length;
    expect(ofTrain).toBeGreaterThan(0);
    expect(Math.abs(2 * ofTrain - ids.length)).toBeLessThan(2);
    expect(saved.contents.numTooLarge).toBe(18 - ids.length);
    expect(ids).toContain('9-test');
  });

  it('reads the tokens that an update trained only where the recipe recorded them', async () => {
    const tokens = `${RUN}/updates/4/inputs/9-train/tokens`;
    const [without, recorded] = [api({ train: 1 }), api({ train: 1 }, { updateTokens: true })];
    const options = { ...FACTS, numEpisodes: 1, maxBytes: 1e6 };
    expect((await readSavedRun(without, options)).answers[tokens]).toEqual({ steps: [] });
    expect(without.asked).not.toContain(tokens);
    await readSavedRun(recorded, options);
    expect(recorded.asked).toContain(tokens);
  });

  it('is JSON that ends no element of the page, whatever agents wrote', () => {
    const hostile = { action: `</script><script>alert(1)</script><!-- ${'\u2028'} &lt; $& $'` };
    const written = inScript(hostile);
    expect(written).not.toContain('<');
    expect(JSON.parse(written)).toEqual(hostile);
  });
});
