import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inScript, readSavedRun, RUN_MARKER } from './saved-run.js';

const RUN = '/api/runs/r';
const DASHBOARD = join(import.meta.dirname, '../../../../dashboard');

interface Answers {
  readonly recipe?: unknown;
  /** Characters of each step. */
  readonly stepLength?: number;
  readonly deleted?: string;
  readonly numUpdates?: number;
  /** Characters of the lineage of an update, of an update in the list, and of a point of a series of metrics. */
  readonly lengths?: { readonly lineage?: number; readonly update?: number; readonly point?: number };
}

/** Episodes of two steps that come in two answers, as many of a split as are asked for. */
function api(numOfSplit: Readonly<Record<string, number>>, answers: Answers = {}) {
  const { recipe = null, stepLength = 500, deleted, numUpdates = 1, lengths = {} } = answers;
  const asked: string[] = [];
  const get = (path: string): Promise<unknown> => {
    asked.push(path);
    const { pathname, searchParams: query } = new URL(path, 'http://api');
    if (pathname === RUN) return Promise.resolve({ recipe });
    if (pathname === `${RUN}/totals`) return Promise.resolve({ numEpisodes: 50 });
    const [, episodeId] = /\/episodes\/([^/]+)$/.exec(pathname) ?? [];
    if (episodeId !== undefined) {
      if (episodeId === deleted)
        return Promise.reject(Object.assign(new Error('gone'), { code: 'NOT_FOUND' }));
      const from = Number(query.get('fromStep') ?? 0);
      const uses = [{ runId: 'r', updateNumber: 4 }];
      const steps = [{ step: from, action: 'x'.repeat(stepLength) }];
      return Promise.resolve({ episodeId, uses, steps, nextStep: from === 0 ? 1 : null });
    }
    if (pathname === `${RUN}/metrics`)
      return Promise.resolve({ points: 'x'.repeat((lengths.point ?? 0) * Number(query.get('maxPoints'))) });
    if (pathname.endsWith('/lineage')) return Promise.resolve({ text: 'x'.repeat(lengths.lineage ?? 0) });
    if (pathname === `${RUN}/updates`) {
      const text = 'x'.repeat(lengths.update ?? 0);
      const items = Array.from({ length: numUpdates }, (_, i) => ({
        updateNumber: 4 + numUpdates - 1 - i,
        text,
      }));
      return Promise.resolve({ items, nextCursor: null });
    }
    const split = query.get('split');
    if (split === null) return Promise.resolve({ items: [], nextCursor: null });
    const from = Number(query.get('cursor') ?? 0);
    const to = Math.min(from + Math.min(2, Number(query.get('limit'))), numOfSplit[split] ?? 0);
    const items = Array.from({ length: to - from }, (_, i) => ({ episodeId: `${9 - from - i}-${split}` }));
    return Promise.resolve({ items, nextCursor: to < (numOfSplit[split] ?? 0) ? `${to}` : null });
  };
  return { asked, get: get as <Answer>(path: string) => Promise<Answer> };
}

const idsOf = ({ episodes }: Awaited<ReturnType<typeof readSavedRun>>) =>
  episodes.map(({ episodeId }) => episodeId);

const withoutQuery = (path: string) => path.split('?')[0];

describe('a run for a page', () => {
  it('has the newest episodes of each split, the newest first, with all their steps', async () => {
    const saved = await readSavedRun(api({ train: 7, test: 1 }), {
      runId: 'r',
      numEpisodes: 3,
      maxBytes: 1e6,
    });
    expect(idsOf(saved)).toEqual(['9-train', '9-test', '8-train', '7-train']);
    expect(saved.episodes[0]).toMatchObject({ nextStep: null, steps: [{ step: 0 }, { step: 1 }] });
    expect(saved.contents).toEqual({
      ...{ numEpisodesOfRun: 50, numDetailedUpdates: 1, hasAllUpdates: true, numLeftOut: 0 },
    });
  });

  it('leaves out episodes that do not fit, of each split the oldest first', async () => {
    const maxBytes = 20_000;
    const saved = await readSavedRun(api({ train: 9, test: 9 }), { runId: 'r', numEpisodes: 9, maxBytes });
    expect(inScript(saved).length).toBeLessThan(maxBytes);
    const ids = idsOf(saved);
    const ofTrain = ids.filter((id) => id.endsWith('train')).length;
    expect(ofTrain).toBeGreaterThan(0);
    expect(Math.abs(2 * ofTrain - ids.length)).toBeLessThan(2);
    expect(saved.contents.numLeftOut).toBe(18 - ids.length);
    expect(ids).toContain('9-test');
  });

  it('reads the tokens that an update trained only where the recipe recorded them', async () => {
    const tokens = `${RUN}/updates/4/inputs/9-train/tokens`;
    const [without, recorded] = [api({ train: 1 }), api({ train: 1 }, { recipe: { updateTokens: true } })];
    const options = { runId: 'r', numEpisodes: 1, maxBytes: 1e6 };
    expect((await readSavedRun(without, options)).answers).not.toHaveProperty([tokens]);
    expect(without.asked).not.toContain(tokens);
    await readSavedRun(recorded, options);
    expect(recorded.asked).toContain(tokens);
  });

  it('reads no further episodes once several in a row do not fit', async () => {
    const large = api({ train: 9, test: 9 }, { stepLength: 30_000 });
    const saved = await readSavedRun(large, { runId: 'r', numEpisodes: 9, maxBytes: 20_000 });
    expect(saved.contents.numLeftOut).toBe(18);
    expect(new Set(large.asked.filter((path) => path.includes('/episodes/')).map(withoutQuery)).size).toBe(3);
  });

  it('leaves out an episode that is deleted meanwhile', async () => {
    const saved = await readSavedRun(api({ train: 3 }, { deleted: '8-train' }), {
      ...{ runId: 'r', numEpisodes: 9, maxBytes: 1e6 },
    });
    expect(idsOf(saved)).toEqual(['9-train', '7-train']);
    expect(saved.contents.numLeftOut).toBe(1);
  });

  it.each([
    ['details of updates', { lineage: 20_000 }, { numDetailedUpdates: 2, hasAllUpdates: true }],
    ['updates', { update: 10_000 }, { numDetailedUpdates: 4, hasAllUpdates: false }],
    ['points of metrics', { point: 60 }, { numDetailedUpdates: 8, hasAllUpdates: true }],
  ])('leaves out %s that do not fit into half of the page', async (_, lengths, contents) => {
    const maxBytes = 100_000;
    const answers = { numUpdates: 8, lengths };
    const saved = await readSavedRun(api({ train: 2 }, answers), { runId: 'r', numEpisodes: 2, maxBytes });
    expect(saved.contents).toMatchObject({ ...contents, numLeftOut: 0 });
    expect(inScript(saved).length).toBeLessThan(maxBytes);
  });

  it('that does not fit even so is refused with the sizes', async () => {
    const large = api({}, { lengths: { point: 1_000 } });
    await expect(readSavedRun(large, { runId: 'r', numEpisodes: 0, maxBytes: 20_000 })).rejects.toMatchObject(
      {
        code: 'OPTION_INVALID',
        message: expect.stringMatching(/need 61,\d{3} bytes, and 20,000 are free/) as string,
      },
    );
  });

  it('has the fields and the place that the page of the dashboard reads', async () => {
    const declared = readFileSync(join(DASHBOARD, 'src/as-of/saved-run.ts'), 'utf8');
    const [, fields] = /interface SavedRun \{(.*?)\n\}/s.exec(declared) ?? [];
    const names = [...fields.matchAll(/readonly (\w+):/g)].map(([, name]) => name);
    const saved = await readSavedRun(api({}), { runId: 'r', numEpisodes: 1, maxBytes: 1e6 });
    const written = ['savedAt', 'version', ...Object.keys(saved), ...Object.keys(saved.contents)];
    expect(names.toSorted()).toEqual(written.toSorted());
    expect(readFileSync(join(DASHBOARD, 'scripts/saved-page.mjs'), 'utf8')).toContain(`'${RUN_MARKER}'`);
  });

  it('is JSON that ends no element of the page, whatever agents wrote', () => {
    const hostile = { action: `</script><script>alert(1)</script><!-- ${'\u2028'} &lt; $& $'` };
    const written = inScript(hostile);
    expect(written).not.toContain('<');
    expect(JSON.parse(written)).toEqual(hostile);
  });
});
