import { RewardScorer, scoreRun, type RewardDefinition } from '@retrace/rewards/scoring';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RewardAuditReport } from '../rewards/reward-audit.dto.js';
import type { RewardDifferences } from '../rewards/reward-differences.dto.js';
import type { RewardVersionList } from '../rewards/reward-versions.dto.js';
import { ApiFixture } from '../testing/api-fixture.js';
import type { RecordedEpisode } from '../testing/played-episode.js';
import { RunRecorder } from '../testing/run-recorder.js';

const NUM_ROUNDS = 11;
const SPREAD = { allocation: 'perStep', allocationGamma: 1 } as const;

let fixture: ApiFixture;
let run: RunRecorder;
let episodes: readonly RecordedEpisode[];
let path: string;

beforeAll(async () => {
  fixture = await ApiFixture.start();
  run = new RunRecorder(fixture.log, { groupsPerRound: 3, groupSize: 4, learningRounds: 10 });
  await run.start();
  const rounds: (readonly RecordedEpisode[])[] = [];
  for (let round = 0; round < NUM_ROUNDS; round++) rounds.push(await run.round());
  episodes = rounds.flat();
  await fixture.storeHasCaughtUp();
  const score = (name: string, components: RewardDefinition['components']) =>
    scoreRun({
      ...{ client: fixture.client, runId: run.runId, name },
      scorer: new RewardScorer({ ...SPREAD, components }),
    });
  const options = { failure: 0 };
  await score('goal', [{ reward: 'goal', options }]);
  await score('turned', [{ reward: 'goal', weight: -2, options }]);
  path = `/api/runs/${run.runId}/reward-versions`;
});

afterAll(async () => {
  await fixture?.close();
});

describe('reward versions', () => {
  it('are listed with their names, that which was named last first', async () => {
    const { versions } = await fixture.getJson<RewardVersionList>(path);
    expect(versions.map(({ name, numScored }) => [name, numScored])).toEqual([
      ['turned', episodes.length],
      ['goal', episodes.length],
    ]);
    expect(versions[0].version).toMatch(/^[0-9a-f]{64}$/);
    expect(Date.parse(versions[0].namedAt)).toBeGreaterThanOrEqual(Date.parse(versions[1].namedAt));
    expect(await fixture.getJson('/api/runs/01a21e00-8784-7c94-b680-2a37b88c45de/reward-versions')).toEqual({
      versions: [],
    });
  });

  it('are held against the success of the episodes', async () => {
    const success = episodes.map(({ end }) => Number(end.success));
    const share = success.reduce((sum, value) => sum + value, 0) / success.length;
    const audit = await fixture.getJson<RewardAuditReport>(
      `${path}/goal/audit?stretches=11&limit=2&split=all`,
    );
    expect(audit).toMatchObject({
      numEpisodes: episodes.length,
      numWithSuccess: episodes.length,
      name: 'goal',
    });
    expect(audit.stretches).toHaveLength(11);
    expect(audit.values.map(({ kind, name }) => [kind, name])).toEqual([
      ['total', 'total'],
      ['component', 'goal'],
    ]);
    expect(audit.values[0]).toMatchObject({ meanOfSuccesses: 1, meanOfFailures: 0, paysFailures: false });
    expect(audit.values[0].mean).toBeCloseTo(share, 12);
    expect(audit.richestFailures).toHaveLength(2);

    const turned = await fixture.getJson<RewardAuditReport>(`${path}/turned/audit`);
    expect(turned.values[0]).toMatchObject({ meanOfSuccesses: -2, meanOfFailures: 0, paysFailures: true });
    expect(turned.numEpisodes).toBe(episodes.length - 12);
    expect(turned.hacked).toEqual([]);
  });

  it('are compared with each other', async () => {
    const { versions } = await fixture.getJson<RewardVersionList>(path);
    const beginning = versions[0].version.slice(0, 8);
    const found = await fixture.getJson<RewardDifferences>(`${path}/goal/differences/${beginning}?limit=1`);
    expect(found).toMatchObject({ nameA: 'goal', nameB: 'turned', versionB: versions[0].version });
    const [total] = found.values;
    expect(total).toMatchObject({ numCompared: episodes.length, spearman: -1, kendall: -1 });
    expect(total.meanB).toBeCloseTo(-2 * (total.meanA ?? 0), 12);
    expect(found.mostChanged).toHaveLength(1);
    expect(found.numGroups).toBe(3 * NUM_ROUNDS);
    expect(found.numGroupsFlipped).toBeGreaterThan(0);
  });

  it.each([
    ['none/audit', 404, 'NOT_FOUND', /reward version 'none'.*use one of turned .*goal/s],
    ['goal/audit?split=test', 409, 'NO_EPISODES', /no score is of an episode of split 'test'/],
    ['goal/differences/none', 404, 'NOT_FOUND', /'none'/],
    ['goal/audit?stretches=9', 400, 'INVALID_REQUEST', /stretches must be an integer from 10 to 1000, got 9/],
    ['goal/audit?split=none', 400, 'INVALID_REQUEST', /split must be one of train, validation, test, all/],
    [`${'x'.repeat(100)}/audit`, 404, 'NOT_FOUND', /reward version 'x{100}' .* has no scores/],
    ['with%2Fa%20%25%20sign/audit', 404, 'NOT_FOUND', /reward version 'with\/a % sign'/],
  ])('%s is answered with %i %s', async (question, status, code, detail) => {
    const response = await fixture.get(`${path}/${question}`);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ code, detail: expect.stringMatching(detail) as string });
  });
});
