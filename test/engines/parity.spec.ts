import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { openBackend } from '@retrace/compute';
import { CheckpointFiles, type TeacherTop } from '@retrace/policy';
import type { EvaluatedTokens, UpdateEngine } from '@retrace/trainer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectSameUpdates, expectSameView, expectSameWeights, NUM_UPDATES } from './same-results.js';
import { newDirectory, obstacle, openTensorflow, smallRecipe, Worker } from './torch.js';

/* The same stored batches through both engines: recorded by TensorFlow.js, made again by torch. */

interface Case {
  readonly recipe: string;
  readonly algorithm?: string;
  readonly settings?: readonly string[];
}

const few = [
  ...['evaluation.everyUpdates=0', 'evaluation.numTestEpisodes=0', 'optimizer.learningRate=0.01'],
  'collection.concurrentEpisodes=16',
];
const fewGroups = ['collection.groupsPerRound=4', 'collection.groupSize=4'];

const CASES: Readonly<Record<string, Case>> = {
  'PPO with a critic': { recipe: 'bandit-ppo', settings: ['collection.groupsPerRound=32'] },
  'PPO with a critic of its own trunk and learning rate': {
    recipe: 'bandit-ppo',
    settings: [
      ...['collection.groupsPerRound=32', 'model.valueTrunk=own'],
      ...['optimizer.criticLearningRate=0.02', 'optimizer.maxGradientNorm=0.05', 'optimizer.weightDecay=0.1'],
    ],
  },
  'PPO with a critic that has steps of its own, and a warm-up': {
    recipe: 'bandit-ppo',
    settings: [
      ...['collection.groupsPerRound=32', 'model.valueTrunk=own', 'optimizer.criticLearningRate=0.02'],
      'optimizer.critic={"numWarmupUpdates":1,"epochs":3,"miniBatchActionTokens":16}',
    ],
  },
  'GRPO with a KL to a fixed reference': {
    recipe: 'memory-bandit-grpo',
    algorithm: 'grpo',
    settings: [...fewGroups, 'loss.kl.coefficient=0.1', 'loss.entropyCoefficient=0.01'],
  },
  'GRPO with a moving reference': {
    recipe: 'memory-bandit-grpo',
    algorithm: 'grpo',
    settings: [...fewGroups, 'loss.kl.coefficient=0.1', 'loss.referenceDecay=0.5'],
  },
  GiGPO: { recipe: 'frozen-lake-grpo', algorithm: 'gigpo', settings: fewGroups },
  'decoupled PPO': { recipe: 'memory-bandit-grpo', algorithm: 'decoupled-ppo', settings: fewGroups },
  GSPO: { recipe: 'memory-bandit-grpo', algorithm: 'gspo', settings: fewGroups },
  'M2PO, which evaluates the whole batch before it trains it': {
    recipe: 'memory-bandit-grpo',
    settings: [
      ...fewGroups,
      'loss.policyLoss=m2po',
      'loss.policyLossOptions={"threshold":0.0001}',
      'optimizer.epochs=3',
    ],
  },
  DPO: { recipe: 'frozen-lake-dpo', settings: fewGroups },
  imitation: {
    recipe: 'frozen-lake-imitation',
    settings: [
      ...['collection.groupsPerRound=4', 'imitation.numUpdates=3', 'imitation.numEpisodes=16'],
      'imitation.episodesPerUpdate=8',
    ],
  },
};

const MODELS = new URL('../golden/policy/models', import.meta.url).pathname;
const LORA = '{"rank":4,"alpha":8,"targets":["q_proj","v_proj","down_proj"]}';

/** Models of other makers, trained whole or by adapters. */
const DIRECTORIES: Readonly<Record<string, readonly string[]>> = {
  whole: [`policy={"model":"${MODELS}/llama","maxPositions":64}`],
  'with adapters': [`policy={"model":"${MODELS}/qwen2","maxPositions":64,"lora":${LORA}}`],
  'with adapters of a critic’s own, too': [
    `policy={"model":"${MODELS}/llama","maxPositions":64,"lora":${LORA},"valueTrunk":"own"}`,
  ],
};

describe.skipIf(obstacle !== null)(obstacle ?? 'torch beside TensorFlow.js', () => {
  const directory = newDirectory();
  const workers: Worker[] = [];
  beforeAll(async () => {
    await openBackend();
    workers.push(await Worker.start(1), await Worker.start(2));
  });
  afterAll(async () => {
    await Promise.all(workers.map((worker) => worker.stop()));
    rmSync(directory, { recursive: true, force: true });
  });

  it.each(Object.entries(CASES))(
    '%s: evaluates the same tokens alike and has the same weights after three updates, in one process and in two',
    async (name, { recipe: base, algorithm, settings = [] }) => {
      const numUpdates = base.includes('imitation') ? 1 : NUM_UPDATES;
      const recipe = smallRecipe(base, { algorithm, numUpdates, assignments: [...few, ...settings] });
      const path = join(directory, name.replaceAll(/\W+/g, '-'));
      await expectSameUpdates(path, recipe, workers);
    },
  );

  it.each(Object.entries(DIRECTORIES))(
    'a model of a directory, %s: begins with the same bits and has the same weights after three steps',
    async (_, settings) => {
      const recipe = smallRecipe('bandit-ppo', {
        assignments: [...['model=null', 'context.tokenizer=model', 'optimizer.weightDecay=0.1'], ...settings],
      });
      const checkpoints = new CheckpointFiles(join(directory, 'models'));
      const tensorflow = await openTensorflow(recipe, checkpoints, 32);
      for (const worker of workers) {
        const torch = await worker.open(recipe, checkpoints, 32);
        const reference = await openTensorflow(recipe, checkpoints, 32);
        expect(torch.modelHash).toBe(tensorflow.modelHash);
        expect(await torch.saveWeights()).toEqual(await tensorflow.saveWeights());
        const views: EvaluatedTokens[] = [];
        for (const engine of [reference, torch]) {
          for (let step = 0; step < 3; step++) await makeStep(engine);
          views.push(await engine.evaluate(TOKENS, { temperature: 0.9, mask: MASK }));
          views.push({ ...views[0], values: await engine.evaluateEnds(TOKENS) });
        }
        expectSameView(views[2], views[0]);
        expectSameView(views[3], views[1]);
        await expectSameWeights(checkpoints, await torch.saveWeights(), await reference.saveWeights());
        await torch.close();
        await reference.close();
      }
      await tensorflow.close();
    },
  );

  it('a teacher of a run: has the same likeliest tokens and the same weights after three steps, in one process and in two', async () => {
    const checkpoints = new CheckpointFiles(join(directory, 'teachers'));
    const recipe = smallRecipe('bandit-ppo');
    const teacher = await openTensorflow(recipe, checkpoints, 32);
    await makeStep(teacher);
    const source = { runId: TEACHER_RUN, policyVersion: 1, ...(await teacher.saveWeights()) };
    const distillation = { teacher: { policy: { run: TEACHER_RUN, source } }, topK: 3 };
    const taught = { ...recipe, distillation };
    const tensorflow = await openTensorflow(taught, checkpoints, 32);
    const options = { temperature: 0.9, mask: MASK, topK: 3 };
    const expected = await tensorflow.evaluateTeacher(TOKENS, options);
    const rowAt = (top: TeacherTop | null, n: number) => (top?.rows[n] ?? -1) * 3;
    for (const worker of workers) {
      const torch = await worker.open(taught, checkpoints, 32);
      const told = await torch.evaluateTeacher(TOKENS, options);
      TOKENS.tokenIds.forEach((_, n) => {
        const [made, wanted] = [rowAt(told.top, n), rowAt(expected.top, n)];
        expect(made < 0).toBe(MASK[n] === 0);
        if (MASK[n] === 0) return;
        expect(told.logprobs[n]).toBeCloseTo(expected.logprobs[n], 4);
        for (let i = 0; i < 3; i++) {
          expect(told.top?.ids[made + i]).toBe(expected.top?.ids[wanted + i]);
          expect(told.top?.logprobs[made + i]).toBeCloseTo(expected.top?.logprobs[wanted + i] ?? NaN, 4);
        }
      });
      const student = await openTensorflow(taught, checkpoints, 32);
      for (const engine of [student, torch])
        for (let step = 0; step < 3; step++) await makeStep(engine, expected.top);
      const same = [await torch.saveWeights(), await student.saveWeights()] as const;
      await expectSameWeights(checkpoints, ...same);
      await torch.close();
      await student.close();
    }
    await tensorflow.close();
    await teacher.close();
  });
});

const TEACHER_RUN = '01936d00-0000-7000-8000-00000000b001';

const TOKENS = {
  tokenIds: Int32Array.from({ length: 24 }, (_, n) => (5 * n + n * n) % 32),
  sequenceOffsets: Int32Array.of(0, 9, 9, 11, 24),
};
const MASK = Uint8Array.from({ length: 24 }, (_, n) => Number(![0, 9, 11].includes(n) && n % 4 !== 1));

async function makeStep(engine: UpdateEngine, teacherTop: TeacherTop | null = null): Promise<void> {
  const { logprobs, values } = await engine.evaluate(TOKENS, { temperature: 0.9, mask: MASK });
  const column = (of: (n: number) => number) => Float32Array.from({ length: 24 }, (_, n) => of(n));
  await engine.accumulate(
    {
      ...TOKENS,
      lossWeights: column((n) => MASK[n] / 10),
      advantages: column((n) => (n % 3) - 0.9),
      proximalLogprobs: logprobs,
      returns: column(Math.sin),
      proximalValues: values,
      teacherTop,
    },
    {
      policyLoss: 'ppo',
      policyLossOptions: {},
      valueCoefficient: 0.5,
      valueClip: 0.2,
      entropyCoefficient: 0.01,
      klCoefficient: 0,
      klEstimator: 'k3',
      distillation: teacherTop && { objective: 'forwardKl', coefficient: 0.5 },
      temperature: 0.9,
    },
  );
  await engine.step({ learningRate: 0.01, maxGradientNorm: 0.5 });
}
