import { episodeIdFor, newRunId, type StepRecorded } from '@retrace/trajectory';
import { Sink, TrajectoryReader } from '@retrace/store';
import { appendEvents } from '@retrace/log/testing';
import { episodeEvents } from '@retrace/trajectory/testing';
import { openStoreFixture, type StoreFixture } from '@retrace/store-server/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startJudgeServer } from './judge/judge-server.fixture.js';
import { VerdictArchive } from './judge/verdict-archive.js';
import { VerdictStore } from './judge/verdict-store.js';
import { rewardEpisode } from './reward-episode.js';
import { RewardScorer, type RewardDefinition } from './reward-scorer.js';
import { scoreRun } from './score-run.js';

const SPREAD = { allocation: 'perStep', allocationGamma: 1 } as const;
const OUTCOMES: RewardDefinition = {
  ...SPREAD,
  components: [{ reward: 'environment' }, { reward: 'goal', weight: 2, options: { success: 1, failure: 0 } }],
};
const TEXTS: RewardDefinition = {
  ...SPREAD,
  components: [
    { reward: 'environment', weight: -1 },
    { reward: 'lengthPenalty', options: { unit: 'characters', limit: 3, coefficient: 0.5 } },
    { reward: 'exactMatch', options: { answer: 'finalObservation', reference: 'level' }, weight: 0 },
  ],
};

describe('scoreRun', () => {
  let store: StoreFixture;
  let sink: Sink;
  let running: Promise<void>;
  const stop = new AbortController();

  beforeAll(async () => {
    store = await openStoreFixture();
    sink = new Sink({ lingerMs: 5, minInsertIntervalMs: 5 });
    running = sink.run({ log: store.log, client: store.client, signal: stop.signal });
  });
  afterAll(async () => {
    stop.abort();
    await running;
    await store.close();
  });

  async function play(
    runId: string,
    ordinals: readonly number[],
    step: (ordinal: number, step: number) => Partial<StepRecorded> = () => ({}),
  ): Promise<string[]> {
    const ends = new Map<number, number>();
    for (const ordinal of ordinals) {
      const events = episodeEvents({
        logId: store.log.logId,
        runId,
        ordinal,
        numSteps: 1 + (ordinal % 3),
        step: (k) => step(ordinal, k),
      });
      const { partition, lastOffset } = await appendEvents(store.log, events);
      ends.set(partition, lastOffset);
    }
    for (const [partition, end] of ends) await sink.caughtUpTo('trajectories', partition, end);
    return ordinals.map((ordinal) => episodeIdFor({ runId, ordinal }));
  }

  const score = (
    runId: string,
    definition: RewardDefinition,
    options: { signal?: AbortSignal; batch?: number } = {},
  ) =>
    scoreRun({
      client: store.client,
      runId,
      scorer: new RewardScorer(definition),
      name: 'test',
      maxEpisodesPerBatch: options.batch,
      signal: options.signal,
    });

  const rowsOf = (runId: string) =>
    store.client.queryRows<Record<string, unknown>>(
      `SELECT * EXCEPT scored_at FROM scores WHERE run_id = {runId:String} ORDER BY reward_version, episode_id`,
      { params: { runId } },
    );

  it.each([
    ['only outcomes', OUTCOMES],
    ['texts', TEXTS],
  ])(
    'gives the same totals as training for the same episodes (components that read %s)',
    async (_, definition) => {
      const runId = newRunId();
      const ids = await play(runId, [0, 1, 2, 3, 4, 5]);
      const report = await score(runId, definition);
      expect(report).toMatchObject({ numScored: 6, numKept: 0, numWithoutTotal: 0, numIncomplete: 0 });

      const scorer = new RewardScorer(definition);
      const reader = new TrajectoryReader(store.client);
      const columns = await reader.readEpisodes(runId, ids);
      const texts = await reader.readEpisodeTexts(runId, ids);
      const asTrained = await scorer.scoreEpisodes(
        ids.map((episodeId, e) => ({ episodeId, episode: rewardEpisode({ columns, texts }, e) })),
      );
      const rows = await rowsOf(runId);
      expect(report.rewardVersion).toBe(scorer.version);
      expect(rows.map((row) => row.episode_id)).toEqual(ids);
      expect(rows.map((row) => row.total)).toEqual(asTrained.map(({ total }) => total));
      expect(rows.map((row) => row.step_rewards)).toEqual(
        asTrained.map(({ stepRewards }) => [...stepRewards]),
      );
      expect(rows.map((row) => row.components)).toEqual(
        asTrained.map(({ components }) =>
          Object.fromEntries(components.map(({ name, value }) => [name, value])),
        ),
      );
    },
  );

  it('computes a total that is also worked out by hand', async () => {
    const runId = newRunId();
    await play(runId, [2]);
    await score(runId, OUTCOMES);
    // Ordinal 2: three steps with rewards 0, 1, 2; even ordinals succeed: 0 + 1 + 2 + 2·1.
    expect(await rowsOf(runId)).toMatchObject([{ total: 5, episode_reward: 2, step_rewards: [0, 1, 2] }]);
  });

  it('scores only sealed episodes without a score', async () => {
    const runId = newRunId();
    await play(runId, [0, 1]);
    const open = episodeEvents({ logId: store.log.logId, runId, ordinal: 2 }).slice(0, -1);
    const { partition, lastOffset } = await appendEvents(store.log, open);
    await sink.caughtUpTo('trajectories', partition, lastOffset);
    expect(await score(runId, OUTCOMES)).toMatchObject({ numScored: 2, numKept: 0 });
    expect(await score(runId, OUTCOMES)).toMatchObject({ numScored: 0, numKept: 2 });
    // Earlier by id than one that is scored.
    await play(runId, [4, 3]);
    expect(await score(runId, OUTCOMES)).toMatchObject({ numScored: 2, numKept: 2 });
    expect(await score(runId, TEXTS)).toMatchObject({ numScored: 4, numKept: 0 });
  });

  it('continues where it was stopped, with the same rows and none twice', async () => {
    const ordinals = Array.from({ length: 30 }, (_, n) => n);
    const [whole, stopped] = [newRunId(), newRunId()];
    await play(whole, ordinals);
    await play(stopped, ordinals);
    await score(whole, OUTCOMES);
    let numScored = 0;
    for (let pass = 0; numScored < 30; pass++) {
      expect(pass).toBeLessThan(10);
      const abort = new AbortController();
      const report = await scoreRun({
        client: store.client,
        runId: stopped,
        scorer: new RewardScorer(OUTCOMES),
        name: 'test',
        maxEpisodesPerBatch: 4,
        signal: abort.signal,
        onProgress: () => {
          abort.abort();
        },
      });
      expect(report.numKept).toBe(numScored);
      numScored += report.numScored;
    }
    // A pass whose answer was lost wrote its rows all the same.
    await store.client.command(
      'INSERT INTO reward_scores SELECT * FROM reward_scores WHERE run_id = {runId:String}',
      {
        params: { runId: stopped },
      },
    );
    const comparable = (rows: Record<string, unknown>[]) =>
      rows.map(({ run_id: _run, episode_id: _episode, ...rest }) => rest);
    expect(comparable(await rowsOf(stopped))).toEqual(comparable(await rowsOf(whole)));
  });

  it('leaves a missing total missing, with the reason, and scores it again with retryMissing', async () => {
    const runId = newRunId();
    await play(runId, [0, 1], (ordinal) => (ordinal === 1 ? { reward: null } : {}));
    const components = [{ reward: 'environment' }, { reward: 'explorationBonus', weight: 0 }];
    const report = await score(runId, { ...SPREAD, components });
    expect(report.numWithoutTotal).toBe(1);
    expect(report.reasons[0]).toEqual({ reason: 'environment: missing', count: 1 });
    const rows = await rowsOf(runId);
    expect(rows[0]).toMatchObject({ total: 0, components: { environment: 0, explorationBonus: null } });
    expect(rows[1]).toMatchObject({ total: null, components: { environment: null, explorationBonus: null } });
    expect(rows[0].faults).toEqual({
      explorationBonus: 'explorationBonus needs visitCount, the visits of the run so far',
    });
    const again = await scoreRun({
      client: store.client,
      runId,
      scorer: new RewardScorer({ ...SPREAD, components }),
      name: 'test',
      retryMissing: true,
    });
    expect(again).toMatchObject({ numScored: 1, numKept: 1 });
    expect(await rowsOf(runId)).toHaveLength(2);
  });

  it('logs the verdicts of a judge, and scores from the log when the judge is unavailable', async () => {
    const runId = newRunId();
    const ids = await play(runId, [0, 1, 2, 3], (ordinal) => ({ action: `act ${ordinal}` }));
    const server = await startJudgeServer((_, question) => {
      if (question.includes('act 3')) return { status: 500, body: 'out of memory' };
      if (question.includes('act 2')) return { refusal: 'not this one' };
      return { content: JSON.stringify({ rationale: 'seen', score: question.includes('act 1') ? 1 : 0.25 }) };
    });
    const { endpoint } = server;
    const verdicts = new VerdictStore({ log: store.log, reader: new TrajectoryReader(store.client), runId });
    const judged = () =>
      new RewardScorer(
        {
          ...SPREAD,
          components: [{ reward: 'judge', options: { model: 'grader', endpoint, maxRetries: 1 } }],
        },
        { verdicts, judge: { firstRetryMs: 1 } },
      );
    const scoreJudged = (scorer: RewardScorer) =>
      scoreRun({ client: store.client, runId, scorer, name: 'judged' });
    const first = judged();
    expect(await scoreJudged(first)).toMatchObject({ numScored: 4, numWithoutTotal: 2 });
    const before = await rowsOf(runId);
    expect(before.map((row) => row.total)).toEqual([0.25, 1, null, null]);
    expect(before.map((row) => row.faults)).toEqual([
      {},
      {},
      { judge: 'judge: refused: not this one' },
      { judge: 'judge: HTTP 500: out of memory' },
    ]);
    expect(first.judgeUsage).toMatchObject({
      numVerdicts: 2,
      numRefused: 1,
      numUnanswered: 1,
      promptTokens: 300,
    });

    for (let partition = 0; partition < 2; partition++) {
      const end = await store.log.endOffset('trajectories', partition);
      if (end > 0) await sink.caughtUpTo('trajectories', partition, end - 1);
    }
    await server.close();
    const assigned = await new TrajectoryReader(store.client).readAssignedRewards(runId, ids);
    expect(assigned.map(({ value, source, name }) => [value, source, name])).toEqual([
      [0.25, 'judge', 'judge'],
      [1, 'judge', 'judge'],
      [null, 'judge', 'judge'],
    ]);
    expect(JSON.parse(assigned[1].rationale)).toMatchObject({
      model: 'grader',
      rationale: 'seen',
      raw: '{"rationale":"seen","score":1}',
      promptTokens: 100,
    });

    await store.client.command('DELETE FROM reward_scores WHERE run_id = {runId:String}', {
      params: { runId },
    });
    const offline = judged();
    expect(offline.version).toBe(first.version);
    await scoreJudged(offline);
    expect((await rowsOf(runId)).map((row) => row.total)).toEqual([0.25, 1, null, null]);
    expect(offline.judgeUsage).toMatchObject({
      numReused: 3,
      numVerdicts: 0,
      numUnanswered: 1,
      promptTokens: 0,
    });
  });

  it('asks no question twice, even about episodes of another run, and logs each answer with its episode', async () => {
    const [first, second] = [newRunId(), newRunId()];
    await play(first, [0, 1], (ordinal) => ({ action: `try ${ordinal}` }));
    const ids = await play(second, [0, 1, 2], (ordinal) => ({ action: `try ${ordinal}` }));
    const server = await startJudgeServer((_, question) => ({
      content: JSON.stringify({ rationale: 'seen', score: question.includes('try 1') ? 1 : 0.25 }),
    }));
    const { endpoint } = server;
    const scoreJudged = async (runId: string) => {
      const scorer = new RewardScorer(
        { ...SPREAD, components: [{ reward: 'judge', options: { model: 'grader', endpoint } }] },
        {
          verdicts: new VerdictStore({ log: store.log, reader: new TrajectoryReader(store.client), runId }),
          judge: { archive: new VerdictArchive(store.client) },
        },
      );
      await scoreRun({ client: store.client, runId, scorer, name: 'judged' });
      for (let partition = 0; partition < 2; partition++) {
        const end = await store.log.endOffset('trajectories', partition);
        if (end > 0) await sink.caughtUpTo('trajectories', partition, end - 1);
      }
      return scorer.judgeUsage;
    };
    expect(await scoreJudged(first)).toMatchObject({ numRequests: 2, numReused: 0 });
    expect(await scoreJudged(second)).toMatchObject({ numRequests: 1, numReused: 2, promptTokens: 100 });
    await server.close();
    expect((await rowsOf(second)).map((row) => row.total)).toEqual([0.25, 1, 0.25]);
    const assigned = await new TrajectoryReader(store.client).readAssignedRewards(second, ids);
    const tokensOf = (rationale: string) => (JSON.parse(rationale) as { promptTokens: number }).promptTokens;
    expect(assigned.map(({ value, rationale }) => [value, tokensOf(rationale)])).toEqual([
      [0.25, 0],
      [1, 0],
      [0.25, 100],
    ]);
  });
});
