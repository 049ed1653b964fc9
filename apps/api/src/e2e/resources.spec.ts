import { choosePartition } from '@retrace/log';
import { encodeEvent } from '@retrace/trajectory/codec';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newEpisodeEvent, type AnyEvent, type EpisodeEnded } from '@retrace/trajectory';
import { openApiReader } from '../api-reader.js';
import type { EpisodeDetail, EpisodeListItem } from '../episodes/episodes.dto.js';
import type { Page } from '../paging/page.js';
import type { MetricSeriesList } from '../metrics/metrics.dto.js';
import type { Policy } from '../policies/policies.dto.js';
import type { RunDetail, RunListItem } from '../runs/runs.dto.js';
import { ApiFixture } from '../testing/api-fixture.js';
import type { RecordedEpisode } from '../testing/played-episode.js';
import { recordValidation } from '../testing/recorded-validation.js';
import { RunRecorder } from '../testing/run-recorder.js';
import type { ValidationTask } from '../validations/validation-tasks.dto.js';
import type { DistributionList, UpdateInput } from '../updates/update-inputs.dto.js';
import type { UpdateLineage } from '../updates/update-lineage.dto.js';
import type { TrainedTokenColumns } from '../updates/trained-tokens.dto.js';
import type { Update } from '../updates/updates.dto.js';
import type { AlarmItem } from '../warnings/alarms.dto.js';
import type { RunWarning } from '../warnings/warnings.dto.js';

const NUM_ROUNDS = 12;

let fixture: ApiFixture;
let run: RunRecorder;
let endedRun: RunRecorder;
let rounds: (readonly RecordedEpisode[])[];
let unfinished: RecordedEpisode;

beforeAll(async () => {
  fixture = await ApiFixture.start();
  endedRun = new RunRecorder(fixture.log, { name: 'ended', startedAtUs: Date.UTC(2026, 0, 1) * 1000 });
  await endedRun.start();
  await endedRun.round();
  await endedRun.end('finished');
  run = new RunRecorder(fixture.log, { groupsPerRound: 3, groupSize: 2 });
  await run.start();
  rounds = [];
  for (let round = 0; round < NUM_ROUNDS; round++) rounds.push(await run.round());
  unfinished = await run.unfinishedEpisode();
  await fixture.storeHasCaughtUp();
});

afterAll(async () => {
  await fixture?.close();
});

const runPath = (): string => `/api/runs/${run.runId}`;

async function allPages<Item>(path: string, from: string | null = null): Promise<Item[]> {
  const items: Item[] = [];
  let cursor = from;
  do {
    const page: Page<Item> = await fixture.getJson(`${path}${cursor === null ? '' : `&cursor=${cursor}`}`);
    items.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return items;
}

describe('runs', () => {
  it('lists runs, newest first, with status, success curve and newest values', async () => {
    const { items } = await fixture.getJson<Page<RunListItem>>('/api/runs');
    expect(items.map(({ name, status }) => ({ name, status }))).toEqual([
      { name: 'frozen-lake-ppo', status: 'running' },
      { name: 'ended', status: 'finished' },
    ]);
    const [newest] = items;
    const successRates = rounds.map((episodes) => mean(episodes.map(({ end }) => Number(end.success))));
    expect(newest.successCurve).toEqual(successRates);
    expect(newest.latest['rollout/success']).toBe(successRates[NUM_ROUNDS - 1]);
    expect(newest.policyVersion).toBe(NUM_ROUNDS);
    expect(items[1].startedAt).toBe('2026-01-01T00:00:00.000000Z');
  });

  it('pages through runs one by one', async () => {
    const names = (await allPages<RunListItem>('/api/runs?limit=1')).map(({ name }) => name);
    expect(names).toEqual(['frozen-lake-ppo', 'ended']);
  });

  it('returns the recipe and the baselines of a run', async () => {
    const detail = await fixture.getJson<RunDetail>(runPath());
    expect(detail.recipe).toMatchObject({ optimizer: { learningRate: 0.001, epochs: 2 } });
    expect(detail.baselines[1]).toEqual({
      name: 'greedy',
      success: 0.766,
      numEpisodes: 400,
      split: 'validation',
    });
  });

  it('answers 404 for an unknown run', async () => {
    const response = await fixture.get('/api/runs/01900000-0000-7000-8000-000000000000');
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ code: 'NOT_FOUND', status: 404 });
  });
});

describe('short ids in addresses', () => {
  it('name a run by the beginning or the end of its id, and the newest as `latest`', async () => {
    const { runId } = run;
    const parts = [runId.slice(-8), runId.slice(0, -1), 'latest'];
    for (const part of parts) {
      await expect(fixture.getJson(`/api/runs/${part}`)).resolves.toMatchObject({ runId });
    }
    const differences = `/recipe-differences/${endedRun.runId.slice(-8)}`;
    await expect(fixture.getJson(`/api/runs/${parts[0]}${differences}`)).resolves.toEqual(
      await fixture.getJson(`/api/runs/${runId}/recipe-differences/${endedRun.runId}`),
    );
  });

  it('name an episode among those of its run', async () => {
    const { episodeId } = unfinished;
    const path = `/api/runs/${run.runId.slice(-8)}/episodes/${episodeId.slice(-8)}`;
    await expect(fixture.getJson(path)).resolves.toMatchObject({ episodeId });
    const elsewhere = await fixture.get(`/api/runs/${endedRun.runId}/episodes/${episodeId.slice(-8)}`);
    expect(elsewhere.status).toBe(404);
    expect(await elsewhere.json()).toMatchObject({
      detail: `Episode "${episodeId.slice(-8)}" not found`,
    });
  });

  it('are refused with all that is meant when they are part of several', async () => {
    // The ids of both runs begin with the day on which they were made.
    const response = await fixture.get(`/api/runs/${run.runId.slice(0, 4)}/episodes`);
    expect(response.status).toBe(409);
    const [first, second] = [endedRun, run];
    expect(await response.json()).toMatchObject({
      code: 'ID_AMBIGUOUS',
      detail: `Run "${run.runId.slice(0, 4)}" is ambiguous; use more characters of one of ${first.runId} (ended), ${second.runId} (frozen-lake-ppo)`,
    });
  });

  it.each([
    ['0000ffff', 404, 'Run "0000ffff" not found'],
    ['abc', 400, 'runId must be an id, or 4 or more characters of its beginning or end, got "abc"'],
  ])('that name nothing: %s is answered %d', async (part, status, detail) => {
    const response = await fixture.get(`/api/runs/${part}`);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ detail });
  });
});

describe('warnings', () => {
  it('are listed newest first, page by page, with those of sinks from the time of the run', async () => {
    const plain = { rule: '', advice: '', episodeIds: [] };
    const monitored = {
      ...{ rule: 'trainedOnNothing', advice: 'look at the rewards' },
      episodeIds: ['0190b2c4-7e60-7000-8000-000000000001'],
    };
    await run.warn({
      source: 'trainer',
      severity: 'alarm',
      step: 3,
      message: 'nothing was trained',
      numTimes: 4,
      ...monitored,
    });
    await run.warn(
      { source: 'sink', severity: 'warning', step: null, message: 'of no run', numTimes: 1, ...plain },
      '',
    );
    await run.warn({
      ...{ source: 'collector', severity: 'warning', step: 5, message: 'full', numTimes: 1 },
      ...plain,
    });
    await fixture.storeHasCaughtUp();
    const warnings = await allPages<RunWarning>(`${runPath()}/warnings?limit=2`);
    expect(warnings.map(({ raisedAt, ...warning }) => [typeof raisedAt, warning])).toEqual([
      [
        'string',
        { source: 'collector', severity: 'warning', step: 5, message: 'full', numTimes: 1, ...plain },
      ],
      [
        'string',
        { source: 'sink', severity: 'warning', step: null, message: 'of no run', numTimes: 1, ...plain },
      ],
      [
        'string',
        {
          source: 'trainer',
          severity: 'alarm',
          step: 3,
          message: 'nothing was trained',
          numTimes: 4,
          ...monitored,
        },
      ],
    ]);
    expect(await fixture.getJson(`/api/runs/${endedRun.runId}/warnings`)).toEqual({
      items: [],
      nextCursor: null,
    });
  });
});

describe('alarms', () => {
  it('of all runs are listed once each, as they were raised last, and not those of archived runs', async () => {
    const alarm = { severity: 'alarm', source: 'trainer', advice: '', episodeIds: [] } as const;
    const collapse = { ...alarm, rule: 'entropyCollapse' };
    await endedRun.warn({ ...collapse, step: 1, message: 'entropy 0.2', numTimes: 1 });
    await endedRun.warn({ ...collapse, step: null, message: 'entropy 0.1', numTimes: 2 });
    for (const message of ['disk 9 full', 'memory', 'disk 10 full'])
      await endedRun.warn({ ...alarm, source: 'system', step: null, rule: '', message, numTimes: 1 });
    const failed = new RunRecorder(fixture.log, { name: 'play', startedAtUs: Date.UTC(2025, 0, 1) * 1000 });
    await failed.start();
    await failed.end('failed');
    await endedRun.warn({
      ...alarm,
      severity: 'warning',
      step: 2,
      rule: '',
      message: 'no alarm',
      numTimes: 1,
    });
    await fixture.storeHasCaughtUp();
    const listed = async () => {
      const alarms = await allPages<AlarmItem>('/api/alarms?limit=1');
      return alarms.map(({ runName, source, rule, message, step, numTimes }) =>
        [runName, source, rule, message, step, numTimes].join(' '),
      );
    };
    const ofEnded = [
      'ended system  disk 10 full  1',
      'ended system  memory  1',
      'ended trainer entropyCollapse entropy 0.1  2',
      'play system runFailed the run failed  1',
    ];
    const { name } = await fixture.getJson<RunDetail>(runPath());
    expect(await listed()).toEqual([`${name} trainer trainedOnNothing nothing was trained 3 4`, ...ofEnded]);
    const { items } = await fixture.getJson<Page<AlarmItem>>('/api/alarms?limit=500');
    const [, , , { firstRaisedAt, lastRaisedAt }] = items;
    expect(firstRaisedAt < lastRaisedAt).toBe(true);
    await fixture.patch(runPath(), { archived: true });
    expect(await listed()).toEqual(ofEnded);
    await fixture.patch(runPath(), { archived: false });
  });
});

describe('metrics', () => {
  it('returns the requested series, ordered by step', async () => {
    const path = `${runPath()}/metrics?names=rollout/success,validation/success`;
    const { series } = await fixture.getJson<MetricSeriesList>(path);
    expect(series.map(({ name, source, steps }) => ({ name, source, steps }))).toEqual([
      { name: 'rollout/success', source: 'collector', steps: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] },
      { name: 'validation/success', source: 'evaluation', steps: [4, 9] },
    ]);
  });

  it('leaves out unavailable values', async () => {
    // The recorded run has no explained variance (NaN) for its first update.
    const { series } = await fixture.getJson<MetricSeriesList>(
      `${runPath()}/metrics?names=train/explainedVariance`,
    );
    expect(series[0].steps).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  });

  it('returns means of equal stretches when a series has more points than maxPoints', async () => {
    const path = `${runPath()}/metrics?names=rollout/numSteps&maxPoints=3`;
    const { series } = await fixture.getJson<MetricSeriesList>(path);
    const perRound = rounds.map((episodes) => mean(episodes.map(({ end }) => end.numSteps)));
    expect(series[0].steps).toEqual([3, 7, 11]);
    [0, 4, 8].forEach((from, i) =>
      expect(series[0].values[i]).toBeCloseTo(mean(perRound.slice(from, from + 4)), 9),
    );
  });

  it('returns the newest value when a step was logged twice', async () => {
    await run.logMetrics({ source: 'system', step: 1, names: ['redone'], values: Float64Array.of(1) });
    await run.round();
    await run.logMetrics({ source: 'system', step: 1, names: ['redone'], values: Float64Array.of(2) });
    await fixture.storeHasCaughtUp();
    // While later events are being read, the first answer may be that of before.
    const shown = async () =>
      (await fixture.getJson<MetricSeriesList>(`${runPath()}/metrics?source=system`)).series;
    await expect.poll(shown).toMatchObject([{ name: 'redone', steps: [1], values: [2] }]);
  });
});

describe('episodes', () => {
  const played = (): RecordedEpisode[] => [...rounds.flat(), unfinished];

  it('pages through all episodes exactly once, newest first, while others are added', async () => {
    const path = `${runPath()}/episodes?limit=7`;
    const first = await fixture.getJson<Page<EpisodeListItem>>(path);
    const later = await run.unfinishedEpisode();
    await fixture.storeHasCaughtUp();
    const rest = await allPages<EpisodeListItem>(path, first.nextCursor);
    const ids = [...first.items, ...rest].map(({ episodeId }) => episodeId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual([...ids].sort().reverse());
    expect(ids).toEqual(expect.arrayContaining(played().map(({ episodeId }) => episodeId)));
    expect(ids).not.toContain(later.episodeId);
  });

  it('returns the summary of an episode as its events have it', async () => {
    const [episode] = await allPages<EpisodeListItem>(`${runPath()}/episodes?sort=oldest&limit=500`);
    const { end } = rounds[0][0];
    expect(episode).toMatchObject({
      episodeId: rounds[0][0].episodeId,
      sealed: true,
      success: end.success,
      return: end.return,
      numSteps: end.numSteps,
      numTokens: end.numTokens,
      policyVersionMin: 0,
      policyVersionMax: 0,
      endReason: end.endReason,
    });
  });

  it.each([
    ['split=validation', (end: EpisodeEnded, round: number) => round === 9 && end.success !== null],
    ['success=true', (end: EpisodeEnded) => end.success === true],
    ['success=false&split=train', (end: EpisodeEnded, round: number) => end.success === false && round !== 9],
    ['agent=expert', () => false],
    ['tag=none', () => false],
    ['minReturn=0.5', (end: EpisodeEnded) => (end.return ?? -1) >= 0.5],
    ['maxReturn=0.5', (end: EpisodeEnded) => (end.return ?? 1) <= 0.5],
    ['minCostUsd=0', () => false],
    ['maxCostUsd=9', () => false],
    ['startedFrom=2020-01-01T00:00:00Z&startedBefore=2020-01-02T00:00:00%2B01:00', () => false],
    ['startedFrom=2020-01-01T00:00Z', (end: EpisodeEnded) => end.success !== null],
    ['text=GOAL_', (end: EpisodeEnded) => end.success !== null],
    ['text=no such words', () => false],
  ])('filters by %s', async (filter, isExpected: (end: EpisodeEnded, round: number) => boolean) => {
    const episodes = await allPages<EpisodeListItem>(
      `${runPath()}/episodes?limit=8&sort=oldest&sealed=true&${filter}`,
    );
    const expected = rounds.flatMap((some, round) =>
      some.filter(({ end }) => isExpected(end, round)).map(({ episodeId }) => episodeId),
    );
    const recorded = new Set(rounds.flat().map(({ episodeId }) => episodeId));
    expect(episodes.map(({ episodeId }) => episodeId).filter((id) => recorded.has(id))).toEqual(expected);
  });

  it('finds the episodes that are still played', async () => {
    const { items } = await fixture.getJson<Page<EpisodeListItem>>(
      `${runPath()}/episodes?sealed=false&sort=oldest`,
    );
    expect(items[0]).toMatchObject({
      episodeId: unfinished.episodeId,
      sealed: false,
      endedAt: null,
      success: null,
    });
  });

  it('finds the batch of an update and the members of a group', async () => {
    const batch = await allPages<EpisodeListItem>(`${runPath()}/episodes?update=3&limit=4&sort=oldest`);
    expect(batch.map(({ episodeId }) => episodeId)).toEqual(rounds[3].map(({ episodeId }) => episodeId));
    const members = await allPages<EpisodeListItem>(
      `${runPath()}/episodes?groupId=${batch[0].groupId}&sort=oldest`,
    );
    expect(members.map(({ groupMember }) => groupMember)).toEqual([0, 1]);
  });
});

describe('an episode', () => {
  it('shows token ids until the tokenizer is there', async () => {
    const path = `${runPath()}/episodes/${rounds[0][0].episodeId}`;
    const texts = async (): Promise<readonly string[] | null> =>
      (await fixture.getJson<EpisodeDetail>(path)).steps[0].tokens.texts;
    expect(await texts()).toBeNull();
    await run.vocabulary.save(fixture.tokenizerDirectory);
    expect(await texts()).toContainEqual(expect.stringMatching(/^goal_[a-d][1-4]$/));
  });

  it('gives each step with its tokens and their texts, as they were recorded', async () => {
    const recorded = rounds[2][0];
    await run.vocabulary.save(fixture.tokenizerDirectory);
    const episode = await fixture.getJson<EpisodeDetail>(`${runPath()}/episodes/${recorded.episodeId}`);
    const steps = recorded.events.filter((event) => event.kind === 'StepRecorded');
    expect(episode.steps).toHaveLength(steps.length);
    episode.steps.forEach((step, i) => {
      const { payload } = steps[i] as Extract<AnyEvent, { kind: 'StepRecorded' }>;
      expect(step).toMatchObject({
        step: i,
        observation: payload.observation,
        action: payload.action,
        actionValid: payload.actionValid,
        anchor: payload.anchor,
        reward: payload.reward,
        info: payload.info,
        temperature: 1,
        greedy: false,
      });
      expect(step.tokens.ids).toEqual([...payload.tokenIds]);
      expect(step.tokens.texts).toEqual(`${payload.observation} ${payload.action}`.split(' '));
      expect(step.tokens.actionMask).toEqual([...payload.actionMask]);
      expect(step.tokens.logprobs.map(Number).map(Math.fround)).toEqual([...payload.tokenLogprobs]);
      expect(step.tokens.policyVersions).toEqual([...payload.tokenPolicyVersions]);
    });
    expect(episode.finalObservation).toBe(recorded.end.finalObservation);
    expect(episode.updateNumbers).toEqual([2]);
    expect(episode.uses).toMatchObject([
      { runId: run.runId, updateNumber: 2, policyVersionIn: 2, firstStep: 0, times: 1, weight: 1 },
    ]);
    expect(episode.nextStep).toBeNull();
    expect(episode.task).toHaveProperty('map');
  });

  it('goes on where the answer before ended', async () => {
    const longest = rounds.flat().reduce((a, b) => (a.end.numSteps >= b.end.numSteps ? a : b));
    const path = `${runPath()}/episodes/${longest.episodeId}`;
    const first = await fixture.getJson<EpisodeDetail>(`${path}?maxSteps=2`);
    expect(first.steps.map(({ step }) => step)).toEqual([0, 1]);
    const rest = await fixture.getJson<EpisodeDetail>(`${path}?fromStep=${first.nextStep ?? -1}`);
    expect(rest.steps[0].step).toBe(2);
    expect(rest.steps.at(-1)?.step).toBe(longest.end.numSteps - 1);
    const { steps, nextStep } = rest;
    expect(await fixture.getJson(`${path}/steps?fromStep=${first.nextStep ?? -1}`)).toEqual({
      steps,
      nextStep,
    });
    const unknown = await fixture.get(`${runPath()}/episodes/${run.runId}/steps`);
    expect(unknown.status).toBe(404);
  });

  it('are shown, in the list too, once their run has started', async () => {
    const early = new RunRecorder(fixture.log, { name: 'early', startedAtUs: Date.UTC(2025, 0, 1) * 1000 });
    const { episodeId } = await early.unfinishedEpisode();
    const ids = async () => {
      await fixture.storeHasCaughtUp();
      const episodes = await allPages<EpisodeListItem>(`/api/runs/${early.runId}/episodes?limit=10`);
      return episodes.map((listed) => listed.episodeId);
    };
    const statuses = () =>
      Promise.all(
        ['', '/steps', '/branches'].map(async (part) => {
          const { status } = await fixture.get(`/api/runs/${early.runId}/episodes/${episodeId}${part}`);
          return status;
        }),
      );
    expect(await ids()).toEqual([]);
    expect(await statuses()).toEqual([404, 404, 404]);
    await early.start();
    expect(await ids()).toEqual([episodeId]);
    expect(await statuses()).toEqual([200, 200, 200]);
  });

  it('shows the steps that an unfinished episode has so far', async () => {
    const episode = await fixture.getJson<EpisodeDetail>(`${runPath()}/episodes/${unfinished.episodeId}`);
    expect(episode).toMatchObject({ sealed: false, finalObservation: null, updateNumbers: [] });
    expect(episode.steps.length).toBe(unfinished.events.length - 1);
  });
});

describe('updates and policies', () => {
  it('lists updates with their metrics, newest first', async () => {
    const updates = await allPages<Update>(`${runPath()}/updates?limit=5`);
    const numbers = updates.map(({ updateNumber }) => updateNumber);
    expect(numbers).toEqual([...numbers].sort((a, b) => b - a));
    const first = updates.at(-1);
    expect(first).toMatchObject({
      updateNumber: 0,
      stage: 'policy',
      policyVersionIn: 0,
      policyVersionOut: 1,
      numEpisodes: rounds[0].length,
    });
    expect(first?.metrics['train/learningRate']).toBe(0.001);
    expect(first?.metrics).not.toHaveProperty('train/explainedVariance');
  });

  it('shows one update, and the episodes that fed it in the order of its batch', async () => {
    const update = await fixture.getJson<Update>(`${runPath()}/updates/2`);
    expect(update).toMatchObject({ updateNumber: 2, policyVersionOut: 3, numEpisodes: rounds[2].length });
    const inputs = await allPages<UpdateInput>(`${runPath()}/updates/2/inputs?limit=3`);
    expect(inputs.map(({ episodeId }) => episodeId)).toEqual(rounds[2].map(({ episodeId }) => episodeId));
    inputs.forEach((input, place) => {
      const { success, numSteps } = rounds[2][place].end;
      const advantage = success === true ? 1 : -0.5;
      expect(input).toMatchObject({ place, episodeRunId: run.runId, numSteps, advantageMean: advantage });
    });
    expect((await fixture.get(`${runPath()}/updates/999`)).status).toBe(404);
    expect((await fixture.get(`${runPath()}/updates/2/inputs?sort=luck`)).status).toBe(400);
    expect((await fixture.get(`${runPath()}/updates/two`)).status).toBe(400);
  });

  it('sorts the episodes of an update by their share of the gradient, and tells how they ended', async () => {
    const path = `${runPath()}/updates/2/inputs`;
    const inputs = await allPages<UpdateInput>(`${path}?limit=3&sort=share&order=descending`);
    const ends = rounds[2].map(({ episodeId, end }) => ({ episodeId, end }));
    const pulls = new Map(
      inputs.map(({ episodeId, times, numTokens, weight, advantageMean, advantageDeviation }) => [
        episodeId,
        times * numTokens * (weight ?? 1) * Math.hypot(advantageMean ?? NaN, advantageDeviation ?? NaN),
      ]),
    );
    const all = [...pulls.values()].reduce((sum, pull) => sum + pull, 0);
    const shares = inputs.map(({ share }) => share ?? NaN);
    expect(shares).toEqual([...shares].sort((a, b) => b - a));
    expect(new Set(inputs.map(({ episodeId }) => episodeId))).toEqual(
      new Set(ends.map(({ episodeId }) => episodeId)),
    );
    for (const { episodeId, share, success, return: sum, age } of inputs) {
      const played = ends.find((one) => one.episodeId === episodeId)?.end;
      expect(share).toBeCloseTo((pulls.get(episodeId) ?? NaN) / all, 6);
      expect([success, sum]).toEqual([played?.success, played?.return]);
      expect(age).toBe(2 - (played?.policyVersionMin ?? NaN));
    }
    const { nextCursor } = await fixture.getJson<Page<UpdateInput>>(`${path}?limit=3&sort=share`);
    for (const other of ['', '&sort=return', '&sort=share&order=descending', '&sort=share&success=true'])
      expect((await fixture.get(`${path}?limit=3&cursor=${nextCursor}${other}`)).status).toBe(400);
    const failed = await allPages<UpdateInput>(`${path}?success=false&limit=2`);
    const expected = ends.filter(({ end }) => end.success === false).map(({ episodeId }) => episodeId);
    expect(failed.map(({ episodeId }) => episodeId)).toEqual(expected);
    // Of all episodes of the update, also where some are left out.
    for (const { episodeId, share } of failed)
      expect(share).toBe(inputs.find((input) => input.episodeId === episodeId)?.share);
  });

  it('follows the episodes of an update to the policies that sampled them, and those of its policy to updates', async () => {
    const { runId } = run;
    const lineage = await fixture.getJson<UpdateLineage>(`${runPath()}/updates/2/lineage`);
    expect(new Set(rounds[2].map(({ end }) => end.policyVersionMin))).toEqual(new Set([2]));
    const sampling = { runId, policyVersion: 2, madeBy: 1, numEpisodes: rounds[2].length };
    expect(lineage.sampledBy).toEqual([sampling]);
    const next = rounds[3].filter(({ end }) => end.policyVersionMin === 3);
    expect(next.length).toBeGreaterThan(0);
    expect(lineage.numSampled).toBe(next.length);
    expect(lineage.fed).toEqual([{ runId, updateNumber: 3, numEpisodes: next.length }]);
    const none = await fixture.getJson(`${runPath()}/updates/999/lineage`);
    expect(none).toEqual({ sampledBy: [], numSampled: 0, fed: [] });
  });

  it('shows what the last optimizer step of an update read of each token of an episode', async () => {
    const [{ episodeId, events, end }] = rounds[2];
    const tokensOf = (update: number) =>
      fixture.getJson<TrainedTokenColumns>(`${runPath()}/updates/${update}/inputs/${episodeId}/tokens`);
    const places = events.flatMap((event) => {
      if (event.kind !== 'StepRecorded') return [];
      const { step, actionMask } = event.payload;
      return [...actionMask.keys()]
        .filter((n) => actionMask[n] === 1)
        .map((position) => ({ step, position }));
    });
    expect(places.length).toBeGreaterThan(1);
    const nulls = places.map(() => null);
    expect(await tokensOf(2)).toEqual({
      steps: places.map(({ step }) => step),
      positions: places.map(({ position }) => position),
      advantages: places.map(() => (end.success === true ? 1 : -0.5)),
      ratios: places.map(({ step }) => 1 + step / 64),
      values: places.map(({ position }) => 2 + position / 64),
      entropies: places.map(() => 0.5),
      clippedShares: places.map(({ step }) => (step % 2 === 1 ? 0.5 : 0)),
      ...{ kls: nulls, teacherLogprobs: nulls },
    });
    const inputsOf = (update: number) => allPages<UpdateInput>(`${runPath()}/updates/${update}/inputs`);
    const ratio = (await inputsOf(2)).find((input) => input.episodeId === episodeId)?.ratio;
    // Of both optimizer steps: in the first it is 1.
    expect(ratio).toBeCloseTo(mean(places.map(({ step }) => 1 + step / 128)), 6);
    expect(new Set((await inputsOf(3)).map((input) => input.ratio))).toEqual(new Set([null]));
    // It fed another update, and the update after this one records no tokens.
    for (const update of [1, 4]) expect((await tokensOf(update)).steps).toEqual([]);
  });

  it('shows how the figures of the episodes of an update are distributed', async () => {
    const path = `${runPath()}/updates/2`;
    const inputs = await allPages<UpdateInput>(`${path}/inputs`);
    const { distributions } = await fixture.getJson<DistributionList>(`${path}/distributions`);
    const valuesOf: Record<string, readonly (number | null)[]> = {
      return: inputs.map((input) => input.return),
      advantage: inputs.map((input) => input.advantageMean),
      weight: inputs.map((input) => input.weight),
      ratio: inputs.map((input) => input.ratio),
      age: inputs.map((input) => input.age),
      tokens: inputs.map((input) => input.numTokens),
    };
    const expected = Object.entries(valuesOf).flatMap(([name, all]) => {
      const values = all.filter((value) => value !== null);
      if (values.length === 0) return [];
      const [low, high] = [Math.min(...values), Math.max(...values)];
      const counts = new Array<number>(24).fill(0);
      for (const value of values)
        counts[high === low ? 0 : Math.min(23, Math.floor((24 * (value - low)) / (high - low)))]++;
      return [{ name, numEpisodes: values.length, low, high, mean: mean(values), counts }];
    });
    expect(expected.length).toBeGreaterThan(3);
    expect(distributions.map(({ name }) => name)).toEqual(expected.map(({ name }) => name));
    distributions.forEach((found, i) => {
      const { mean: expectedMean, ...exact } = expected[i];
      expect(found).toMatchObject(exact);
      expect(found.mean).toBeCloseTo(expectedMean, 6);
    });
    expect(await fixture.getJson(`${runPath()}/updates/999/distributions`)).toEqual({ distributions: [] });
  });

  it('lists policy versions with their parents, newest first', async () => {
    const policies = await allPages<Policy>(`${runPath()}/policies?limit=4`);
    expect(policies.at(-1)).toMatchObject({ policyVersion: 0, parentVersion: null });
    expect(policies.at(-2)).toMatchObject({ policyVersion: 1, parentVersion: 0, updateNumber: 0 });
  });
});

describe('a reader in the process that asks', () => {
  it('gets the answers of the server, and its reason where there is none', async () => {
    const { RETRACE_STORE_URL: url, RETRACE_STORE_USER: username } = fixture.environment;
    const reader = await openApiReader({
      store: { url, username, password: fixture.environment.RETRACE_STORE_PASSWORD, cluster: null },
      tokenizerDirectory: fixture.tokenizerDirectory,
    });
    try {
      const { episodeId } = rounds[3][0];
      const paths = [
        '',
        '/totals',
        '/metrics?maxPoints=5',
        '/episodes?split=train&limit=3',
        '/updates?limit=2',
      ];
      for (const path of [
        ...paths,
        `/episodes/${episodeId}`,
        '/updates/2/inputs',
        '/warnings',
        '/validations',
      ])
        // Figures of the server may be some seconds old.
        await expect
          .poll(async () => rounded(await fixture.getJson(runPath() + path)), { message: path })
          .toEqual(rounded(await reader.get(runPath() + path)));
      await expect(reader.get(`${runPath()}/episodes?limit=0`)).rejects.toMatchObject({
        code: 'NOT_ANSWERED',
        message: expect.stringMatching(/is answered 400: .*limit/) as string,
      });
      await expect(reader.get('/api/queue')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    } finally {
      await reader.close();
    }
  });
});

/** To 12 digits: the engine adds in the order in which its threads end. */
function rounded(answer: unknown): unknown {
  return JSON.parse(JSON.stringify(answer), (_, value: unknown) =>
    typeof value === 'number' ? Number(value.toPrecision(12)) : value,
  );
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

it('validations: lists each task as the first and the newest validated policy played it, those that only the newest solved first', async () => {
  const validated = new RunRecorder(fixture.log, {
    name: 'validated',
    startedAtUs: Date.UTC(2026, 0, 2) * 1000,
  });
  await validated.start();
  const { runId } = validated;
  const path = `/api/runs/${runId}/validations/tasks?limit=4`;
  expect(await fixture.getJson(path)).toEqual({ items: [], nextCursor: null });
  const numTasks = 8;
  const validate = (policyVersion: number, skill: number) =>
    recordValidation(fixture.log, {
      runId,
      numTasks,
      policyVersion,
      skill,
      firstOrdinal: 100 * (policyVersion + 1),
    });
  const first = await validate(0, 0.4);
  await fixture.storeHasCaughtUp();
  const alone = await allPages<ValidationTask>(path);
  expect(alone.map((task) => [task.first.episodeId, task.newest])).toEqual(
    first.map(({ episodeId }) => [episodeId, null]),
  );
  await validate(1, 0.5);
  const newest = await validate(2, 1);
  await fixture.storeHasCaughtUp();
  const attempt = ({ episodeId, end }: RecordedEpisode, policyVersion: number) => ({
    ...{ episodeId, policyVersion, success: end.success, return: end.return, numSteps: end.numSteps },
  });
  const expected = first.map((episode, task) => ({
    taskId: alone[task].taskId,
    first: attempt(episode, 0),
    newest: attempt(newest[task], 2),
  }));
  const onlyNewest = expected.filter((task) => task.newest.success === true && task.first.success === false);
  expect(onlyNewest.length).toBeGreaterThan(0);
  expect(onlyNewest.length).toBeLessThan(numTasks);
  const items = await allPages<ValidationTask>(path);
  expect(items).toMatchObject([...onlyNewest, ...expected.filter((task) => !onlyNewest.includes(task))]);
  const [started] = first[0].events.map(({ payload }) => payload as { readonly task: unknown });
  expect(alone[0].task).toEqual(started.task);

  // An annotation replaces the metadata of an episode, and figures come before their episodes are stored.
  const annotated = newEpisodeEvent({
    ...{ ...first[0].events[0], kind: 'EpisodeAnnotated', seq: 1 },
    payload: { tags: null, metadata: { validation: { policyVersion: 2 } }, source: 'person' },
  });
  const { log } = fixture;
  const partition = choosePartition(runId, annotated.episodeId, log.numPartitions('trajectories'));
  await log.append('trajectories', partition, [encodeEvent(annotated as AnyEvent)]);
  await recordValidation(log, { runId, numTasks: 0, policyVersion: 3, skill: 1, firstOrdinal: 400 });
  await fixture.storeHasCaughtUp();
  expect(await allPages<ValidationTask>(path)).toEqual(items);
});

// The last test, since it makes another run.
it('runs: `latest` is the run that began last in the log, whatever its clock said', async () => {
  const startedAtUs = Date.UTC(2025, 0, 1) * 1000;
  const behind = new RunRecorder(fixture.log, { name: 'behind', startedAtUs });
  await behind.start();
  await fixture.storeHasCaughtUp();
  await expect(fixture.getJson('/api/runs/latest')).resolves.toMatchObject({ runId: behind.runId });
});
