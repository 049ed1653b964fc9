import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resolveRecipe } from '@retrace/config';
import { openBackend } from '@retrace/compute';
import { type AnyEvent, isEvaluationEpisode, type PolicyValidated } from '@retrace/trajectory';
import { makeDataDirectory } from './support/cli.mjs';
import { InProcessRun } from './support/in-process-run.js';

/* A run whose policies are validated beside training, greedily and sampled. Figures are computed again from the episodes in the log. */

const NUM_TASKS = 12;
const SAMPLES = 3;
const small = [
  ...['collection.groupsPerRound=16', 'collection.concurrentEpisodes=8', 'optimizer.epochs=1'],
  ...['model.numLayers=1', 'model.hiddenSize=16', 'model.intermediateSize=16', 'optimizer.learningRate=0.01'],
];
const withoutEvaluation = ['evaluation.everyUpdates=0', 'evaluation.numTestEpisodes=0'];
const withEvaluation = [
  ...['evaluation.everyUpdates=2', `evaluation.numValidationEpisodes=${NUM_TASKS}`],
  ...[
    'evaluation.numTestEpisodes=5',
    `evaluation.samplesPerTask=${SAMPLES}`,
    'evaluation.targets=[0,0.001,1]',
  ],
];
const recipeOf = (numUpdates: number, ...settings: readonly string[]) =>
  resolveRecipe('bandit-ppo', { numUpdates, assignments: [...small, ...settings] });

const data = makeDataDirectory();
let last: InProcessRun | undefined;

const begin = async (name: string, recipe: ReturnType<typeof recipeOf>) => {
  await last?.close();
  return (last = await InProcessRun.begin(`${data.path}/${name}`, recipe));
};
const payloads = <K extends AnyEvent['kind']>(events: readonly AnyEvent[], kind: K) =>
  events.flatMap((event) =>
    event.kind === kind ? [event.payload as Extract<AnyEvent, { kind: K }>['payload']] : [],
  );
const validated = async (run: InProcessRun) => payloads(await run.controlEvents(), 'PolicyValidated');
const published = async (run: InProcessRun) => (await run.updates()).map(({ weights }) => weights.sha256);

beforeAll(async () => {
  await openBackend();
});

afterAll(async () => {
  await last?.close();
  data.remove();
});

/** Successes of an evaluation by decoding, each as a list by task, from the episodes in the log. */
async function outcomes(run: InProcessRun, { policyVersion, split }: PolicyValidated) {
  const closed = payloads(await run.controlEvents(), 'GroupsClosed').find(
    (groups) => groups.split === split && groups.round === policyVersion && groups.reason === 'complete',
  );
  const events = await run.episodeEvents();
  const isGreedy = new Map<string, boolean>();
  const isSuccess = new Map<string, boolean | null>();
  for (const { kind, episodeId, payload } of events) {
    if (kind === 'StepRecorded') isGreedy.set(episodeId, payload.sampling?.greedy ?? false);
    if (kind === 'EpisodeEnded') isSuccess.set(episodeId, payload.success);
  }
  const { groupIds = [], memberOffsets = new Int32Array(1), episodeIds = [] } = closed ?? {};
  const byTask = groupIds.map((_, g) => episodeIds.slice(memberOffsets[g], memberOffsets[g + 1]));
  const of = (greedy: boolean) =>
    byTask.map((members) =>
      members.filter((id) => isGreedy.get(id) === greedy).map((id) => isSuccess.get(id)),
    );
  return { greedy: of(true), sampled: of(false), episodeIds };
}

const share = (successes: readonly unknown[]) =>
  successes.filter((success) => success === true).length / successes.length;

describe('a run with validation', () => {
  let run: InProcessRun;

  beforeAll(async () => {
    run = await begin('validated', recipeOf(5, ...withEvaluation));
    await run.work();
  });

  it('validates the first version, each second update and the last once, and tests the last', async () => {
    const evaluations = await validated(run);
    expect(evaluations.map(({ split, policyVersion }) => [split, policyVersion])).toEqual([
      ['validation', 0],
      ['validation', 2],
      ['validation', 4],
      ['validation', 5],
      ['test', 5],
    ]);
    expect((await run.controlEvents()).at(-1)).toMatchObject({
      kind: 'RunEnded',
      payload: { reason: 'finished', numUpdates: 5 },
    });
  });

  it('has figures that follow from its episodes: one greedy and several sampled ones of each task', async () => {
    for (const evaluation of await validated(run)) {
      const { greedy, sampled, episodeIds } = await outcomes(run, evaluation);
      const numTasks = evaluation.split === 'test' ? 5 : NUM_TASKS;
      expect(greedy.map(({ length }) => length)).toEqual(new Array<number>(numTasks).fill(1));
      expect(sampled.map(({ length }) => length)).toEqual(new Array<number>(numTasks).fill(SAMPLES));
      expect(episodeIds.every((id) => isEvaluationEpisode(run.id, id))).toBe(true);
      const [one, other] = evaluation.rows;
      expect([one.decoding, other.decoding]).toEqual(['greedy', 'sampled']);
      expect(one.successRate).toBe(share(greedy.flat()));
      expect(other.successRate).toBeCloseTo(share(sampled.flat()), 12);
      // With all attempts of a task, pass@k is the share of the tasks with a success.
      const passAtAll = other.passAtK.at(-1);
      expect(passAtAll).toMatchObject({ k: SAMPLES, numTasks });
      expect(passAtAll?.pass).toBeCloseTo(share(sampled.map((attempts) => attempts.includes(true))), 12);
      expect(one.successLow).toBeLessThanOrEqual(one.successRate ?? NaN);
      expect(one.successHigh).toBeGreaterThanOrEqual(one.successRate ?? NaN);
    }
  });

  it('tells by metrics when a target was reached, once', async () => {
    const logged = payloads(await run.controlEvents(), 'MetricsLogged').filter(
      ({ source }) => source === 'evaluation',
    );
    const atZero = logged.filter(({ names }) => names.includes('validation/updatesTo0'));
    expect(atZero.map(({ step }) => step)).toEqual([0]);
  });

  it('trains the same weights as without validation, and its updates can be replayed', async () => {
    const weights = await published(run);
    expect(await run.replayAll()).toMatchObject({ numUpdates: 5, differing: [] });
    const other = await begin('unvalidated', recipeOf(5, ...withoutEvaluation));
    await other.work();
    expect(await validated(other)).toEqual([]);
    expect(await published(other)).toEqual(weights);
  });
});

describe('a run that is stopped after each update and resumed', () => {
  it('validates each version exactly once, and trains the weights of a run that was never stopped', async () => {
    const run = await begin('killed', recipeOf(6, ...withEvaluation, 'evaluation.numValidationEpisodes=40'));
    for (const untilUpdate of [1, 2, 3, 4, 5]) await run.work({ untilUpdate });
    await run.work();
    const evaluations = (await validated(run)).map(({ split, policyVersion }) => `${split} ${policyVersion}`);
    expect(evaluations).toEqual(['validation 0', 'validation 2', 'validation 4', 'validation 6', 'test 6']);
    const killed = await published(run);
    const whole = await begin('whole', recipeOf(6, ...withoutEvaluation));
    await whole.work();
    expect(killed).toEqual(await published(whole));
  });
});

describe('early stop', () => {
  it('ends training at the first plateau, tests the best version, and says why', async () => {
    const rule = 'evaluation.earlyStop={"patience":2,"minGain":0.9}';
    const run = await begin('early', recipeOf(500, ...withEvaluation, rule));
    await run.work();
    const evaluations = await validated(run);
    const versions = evaluations
      .filter(({ split }) => split === 'validation')
      .map((one) => one.policyVersion);
    // No gain of 0.9 comes in two validations after the first.
    expect(versions).toEqual([0, 2, 4]);
    const success = new Map(
      evaluations.map(({ policyVersion, rows }) => [policyVersion, rows[0].successRate ?? 0]),
    );
    const best = [...versions].sort((a, b) => (success.get(b) ?? 0) - (success.get(a) ?? 0) || b - a)[0];
    expect(evaluations.at(-1)).toMatchObject({ split: 'test', policyVersion: best });
    const end = (await run.controlEvents()).at(-1);
    expect(end).toMatchObject({ kind: 'RunEnded', payload: { reason: 'finished' } });
    expect(payloads([end as AnyEvent], 'RunEnded')[0].detail).toContain('stopped early');
    expect((await run.updates()).length).toBeLessThan(500);
  });
});
