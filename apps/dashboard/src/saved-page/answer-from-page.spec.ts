import { describe, expect, it } from 'vitest';
import type { EpisodeDetail, StepDetail, UpdateInput } from '../api-types/schema';
import { answerFromPage } from './answer-from-page';
import type { SavedRun } from '../as-of/saved-run';

const step = (action: string) => ({ observation: 'look', action, messages: null }) as StepDetail;

const episode = (episodeId: string, fields: Partial<EpisodeDetail>) =>
  ({
    ...{ episodeId, split: 'train', agent: 'policy', sealed: true, success: null, endReason: 'terminated' },
    ...{ groupId: 'g1', tags: [], updateNumbers: [], numPoorerSteps: 0, return: null, costUsd: null },
    ...{ startedAt: '2026-11-29T10:00:00Z', finalObservation: null, steps: [step('wait')] },
    ...fields,
  }) as EpisodeDetail;

const input = (place: number, fields: Partial<UpdateInput>) => ({ place, ...fields }) as UpdateInput;

const run: SavedRun = {
  ...{ runId: 'r', savedAt: '2026-11-29T12:00:00Z', version: '1' },
  contents: { numEpisodesOfRun: 3, numDetailedUpdates: 1, hasAllUpdates: true, numLeftOut: 0 },
  episodes: [
    episode('c', { split: 'test', success: true, return: 2, tags: ['odd'], costUsd: 0.5 }),
    episode('b', { success: false, return: -1, updateNumbers: [7], groupId: 'g2', numPoorerSteps: 1 }),
    episode('a', { steps: [step('Open THE door')], startedAt: '2026-11-29T09:00:00Z' }),
  ],
  answers: {
    '/api/runs/r': { runId: 'r' },
    '/api/runs/r/metrics': { series: [{ name: 'loss' }, { name: 'kl' }] },
    '/api/runs/r/updates': { items: [{ updateNumber: 7 }, { updateNumber: 6 }, { updateNumber: 5 }] },
    '/api/runs/r/updates/7/inputs': {
      items: [
        input(0, { share: 0.2, return: null, success: true }),
        input(1, { share: null, return: 1, success: false }),
        input(2, { share: 0.5, return: 3, success: true }),
      ],
    },
  },
};

async function ask(path: string, method = 'GET') {
  const response = answerFromPage(run, { url: `file:///api/runs/r${path}`, method });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const idsOf = async (query: string) =>
  ((await ask(`/episodes?${query}`)).body.items as EpisodeDetail[])
    .map(({ episodeId }) => episodeId)
    .join('');

describe('a saved page answers', () => {
  it('what the API was asked when it was saved, whatever moment is asked for', async () => {
    expect((await ask('?asOf=2026-11-29T12:00:00Z')).body).toEqual({ runId: 'r' });
    expect((await ask('/episodes/b')).body).toMatchObject({ episodeId: 'b', return: -1 });
    expect((await ask('/updates/6')).body).toEqual({ updateNumber: 6 });
  });

  it('where the file is on a drive of Windows', async () => {
    // As a browser resolves it.
    const { href } = new URL('/api/runs/r', 'file:///C:/x/run.html');
    expect(href).toBe('file:///C:/api/runs/r');
    expect(await answerFromPage(run, { url: href, method: 'GET' }).json()).toEqual({ runId: 'r' });
  });

  it('404 for what it was not saved with, and for what would change the run', async () => {
    for (const path of ['/episodes/x', '/updates/4', '/updates/6/inputs', '/what-ifs', '/episodes/a/b'])
      expect(await ask(path), path).toMatchObject({ status: 404, body: { code: 'NOT_IN_PAGE' } });
    expect(await ask('', 'PATCH')).toMatchObject({ status: 404 });
  });

  it('no tokens where the updates of one of its episodes recorded none', async () => {
    expect((await ask('/updates/7/inputs/b/tokens')).body).toEqual({ steps: [] });
    expect(await ask('/updates/7/inputs/x/tokens')).toMatchObject({ status: 404 });
  });

  it('the metrics that are asked for, or all', async () => {
    expect((await ask('/metrics?names=kl,other')).body).toEqual({ series: [{ name: 'kl' }] });
    expect((await ask('/metrics')).body).toEqual({ series: [{ name: 'loss' }, { name: 'kl' }] });
  });

  it('a list page by page', async () => {
    const first = (await ask('/updates?limit=2')).body;
    expect(first).toEqual({ items: [{ updateNumber: 7 }, { updateNumber: 6 }], nextCursor: '2' });
    expect((await ask(`/updates?limit=2&cursor=${first.nextCursor as string}`)).body).toEqual({
      items: [{ updateNumber: 5 }],
      nextCursor: null,
    });
  });

  it.each([
    ['', 'cba'],
    ['sort=oldest', 'abc'],
    ['split=test', 'c'],
    ['success=false', 'b'],
    ['tag=odd', 'c'],
    ['update=7', 'b'],
    ['groupId=g2', 'b'],
    ['poorer=false', 'ca'],
    ['minReturn=-1&maxReturn=1', 'b'],
    ['maxCostUsd=1', 'c'],
    ['startedBefore=2026-11-29T10:00:00Z', 'a'],
    ['text=the+DOOR', 'a'],
    ['sealed=true&split=train', 'ba'],
    ['agent=expert', ''],
    ['endReason=truncated', ''],
  ])('the episodes that a filter lets pass: %s', async (query, ids) => {
    expect(await idsOf(query)).toBe(ids);
  });

  it('the episodes of an update in an order, those without a value last', async () => {
    const places = async (query: string) =>
      ((await ask(`/updates/7/inputs?${query}`)).body.items as UpdateInput[]).map(({ place }) => place);
    expect(await places('sort=share&order=descending')).toEqual([2, 0, 1]);
    expect(await places('sort=share')).toEqual([0, 2, 1]);
    expect(await places('sort=return&order=descending')).toEqual([2, 1, 0]);
    expect(await places('success=true')).toEqual([0, 2]);
  });
});
