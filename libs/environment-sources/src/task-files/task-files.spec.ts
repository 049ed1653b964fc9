import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resolveRecipe, type Recipe, type TaskRecipe } from '@retrace/config';
import { getEnvironment, question, splitOf } from '@retrace/environments';
import fc from 'fast-check';
import { parquetWriteFile } from 'hyparquet-writer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { completeTasks } from './complete-tasks.js';
import { EpochOrder } from './epoch-order.js';
import { withTasks } from './with-tasks.js';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'retrace-task-files-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

const row = (n: number) => ({
  data_source: 'sums',
  prompt: [{ role: 'user', content: `What is ${n} + 1?` }],
  ability: 'math',
  reward_model: { style: 'rule', ground_truth: `${n + 1}` },
  extra_info: { split: 'train', index: n },
});

function lines(name: string, rows: readonly unknown[]): string {
  const path = join(directory, name);
  writeFileSync(
    path,
    rows.map((each) => (typeof each === 'string' ? each : JSON.stringify(each))).join('\n'),
  );
  return path;
}

const numbers = (first: number, count: number) => Array.from({ length: count }, (_, n) => row(first + n));
const indexOf = (task: unknown) => (task as ReturnType<typeof row>).extra_info.index;

describe('the order of tasks', () => {
  it('has each row once in each epoch, in another order in each, for any number of rows', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), fc.nat(1000), (numRows, seed) => {
        const order = new EpochOrder(numRows, { shuffle: true });
        const epochs = [0, 1, 2].map((epoch) =>
          Array.from({ length: numRows }, (_, at) => order.at(epoch * numRows + at, seed)),
        );
        for (const [epoch, places] of epochs.entries()) {
          expect(places.every((place) => place.epoch === epoch)).toBe(true);
          expect(places.map((place) => place.row).toSorted((a, b) => a - b)).toEqual(
            places.map((_, at) => at),
          );
        }
        if (numRows > 20) expect(epochs[0]).not.toEqual(epochs[1].map((place) => ({ ...place, epoch: 0 })));
      }),
    );
  });

  it('is the same for whoever begins in the middle', () => {
    const whole = new EpochOrder(7, { shuffle: true });
    const all = Array.from({ length: 30 }, (_, index) => whole.at(index, 5));
    const late = new EpochOrder(7, { shuffle: true });
    expect(Array.from({ length: 10 }, (_, at) => late.at(20 + at, 5))).toEqual(all.slice(20));
  });

  it('is that of the files without shuffling', () => {
    const order = new EpochOrder(3, { shuffle: false });
    expect([0, 1, 2, 3].map((index) => order.at(index, 9).row)).toEqual([0, 1, 2, 0]);
  });
});

describe('withTasks', () => {
  it('asks the rows of Parquet and JSON Lines files, and keeps the whole row for rewards', async () => {
    const parquet = join(directory, 'rows.parquet');
    const rows = numbers(0, 5);
    parquetWriteFile({
      filename: parquet,
      columnData: (['data_source', 'prompt', 'ability', 'reward_model', 'extra_info'] as const).map(
        (name) => ({
          name,
          data: rows.map((each) => each[name]),
          type: typeof rows[0][name] === 'string' ? ('STRING' as const) : ('JSON' as const),
        }),
      ),
    });
    const tasks = {
      train: [parquet, lines('more.jsonl', numbers(5, 3))],
      test: [lines('test.jsonl', numbers(50, 2))],
    };
    const { spec, close } = await withTasks(question, tasks);
    const sampled = Array.from(
      { length: 8 },
      (_, index) => spec.sampleTask({ split: 'train', index, seed: 1 }).task,
    );
    expect(sampled.toSorted((a, b) => indexOf(a) - indexOf(b))).toEqual(numbers(0, 8));
    expect(
      [0, 1, 2].map((index) => indexOf(spec.sampleTask({ split: 'test', index, seed: 1 }).task)),
    ).toEqual([50, 51, 50]);
    const environment = spec.create();
    const task = spec.sampleTask({ split: 'train', index: 3, seed: 1 });
    expect(environment.reset(task)).toMatchObject({ text: `What is ${indexOf(task.task)} + 1?` });
    expect(environment.step(`${indexOf(task.task) + 1}`)).toMatchObject({ reward: 1, success: true });
    close();
  });

  it('divides the rows by hash where there is one kind of files', async () => {
    const { spec, close } = await withTasks(question, { train: [lines('all.jsonl', numbers(0, 300))] });
    const found = (['train', 'validation', 'test'] as const).map((split) => {
      const rows = Array.from({ length: 300 }, (_, index) =>
        indexOf(spec.sampleTask({ split, index, seed: 2 }).task),
      );
      return new Set(rows);
    });
    const [train, validation, test] = found.map((each) => each.size);
    expect(train + validation + test).toBe(300);
    expect(new Set(found.flatMap((each) => [...each])).size).toBe(300);
    expect(validation).toBeGreaterThan(10);
    expect(test).toBeGreaterThan(10);
    close();
  });

  it('resets another environment with its part of a row', async () => {
    const crafting = getEnvironment('countdown');
    const own = crafting.sampleTask({ split: 'train', index: 0, seed: 1 }).task;
    const path = lines('countdown.jsonl', [{ ...row(1), env_kwargs: own }]);
    const { spec, close } = await withTasks(crafting, { train: [path], test: [path] });
    const { task, seed } = spec.sampleTask({ split: 'train', index: 0, seed: 1 });
    expect(task).toMatchObject({ data_source: 'sums', env_kwargs: own });
    expect(spec.create().reset({ task, seed })).toEqual(crafting.create().reset({ task: own, seed }));
    close();
  });

  it.each([
    [
      'no-prompt.jsonl',
      [row(0), { data_source: 'x' }],
      'row 2, field "prompt": got nothing, must be a list of messages',
    ],
    [
      'bad-content.jsonl',
      [{ prompt: [{ role: 'user', content: null }] }],
      'row 1, field "prompt[0].content": got null, must be a text',
    ],
    ['broken.jsonl', [row(0), '{"prompt": ['], 'row 2, '],
    ['a-list.jsonl', [row(0), '[1]'], 'row 2, got [1], must be an object'],
    ['empty.jsonl', [], 'have no rows for training'],
  ])('refuses %s, naming file, row and field', async (name, rows, message) => {
    const path = lines(name, rows);
    const opening = withTasks(question, { train: [path], test: [path] });
    await expect(opening).rejects.toMatchObject({
      code: 'TASKS_INVALID',
      message: expect.stringContaining(message) as string,
    });
    await expect(withTasks(question, { train: [path], test: [path] })).rejects.toThrow(name);
  });

  it('names a file that is not there', async () => {
    const opening = withTasks(question, { train: [join(directory, 'nope.parquet')], test: [] });
    await expect(opening).rejects.toThrow(/tasks\.train: file ".*nope\.parquet", cannot be read: ENOENT/);
  });

  it('refuses files that changed since the run began', async () => {
    const path = lines('changing.jsonl', numbers(0, 4));
    const recipe = await completeTasks(recipeWith({ train: [path], test: [path] }, { numUpdates: 1 }));
    const tasks = recipe.tasks as TaskRecipe;
    (await withTasks(question, tasks)).close();
    lines('changing.jsonl', numbers(1, 4));
    await expect(withTasks(question, tasks)).rejects.toThrow('that the run began with');
  });
});

function recipeWith(
  tasks: TaskRecipe,
  length: { readonly epochs?: number; readonly numUpdates?: number },
): Recipe {
  const [name, value] = Object.entries(length)[0];
  return resolveRecipe('bandit-ppo', {
    assignments: [
      'environment="question"',
      'context.tokenizer="byte"',
      'imitation=null',
      `tasks=${JSON.stringify(tasks)}`,
      'collection.groupsPerRound=8',
      'evaluation.everyUpdates=0',
      'numUpdates=null',
      `${name}=${value}`,
    ],
  });
}

describe('completeTasks', () => {
  it('computes the number of updates from the epochs: whole batches over all epochs', async () => {
    const path = lines('thirty.jsonl', numbers(0, 30));
    const tasks = { train: [path], test: [path] };
    // 3 epochs of 30 rows are 90 groups: 11 rounds of 8, and 2 rows are left out.
    expect(await completeTasks(recipeWith(tasks, { epochs: 3 }))).toMatchObject({
      numUpdates: 11,
      epochs: 3,
      tasks: { contents: { numTrain: 30, numValidation: 0, numTest: 30 } },
    });
    expect(await completeTasks(recipeWith(tasks, { numUpdates: 5 }))).toMatchObject({ numUpdates: 5 });
  });

  it('refuses epochs of less than one update, and an evaluation without rows', async () => {
    const path = lines('three.jsonl', numbers(0, 3));
    await expect(completeTasks(recipeWith({ train: [path], test: [path] }, { epochs: 1 }))).rejects.toThrow(
      'epochs: got 1, with 3 training rows that is less than one update of 8 groups',
    );
    const trainOnly = lines(
      'train-only.jsonl',
      numbers(0, 20).filter((each) => splitOf(JSON.stringify(each)) === 'train'),
    );
    await expect(completeTasks(recipeWith({ train: [trainOnly] }, { numUpdates: 1 }))).rejects.toThrow(
      'tasks.test: has no rows, must have some where evaluation plays',
    );
  });
});
