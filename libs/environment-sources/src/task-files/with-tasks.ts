import type { TaskRecipe } from '@retrace/config';
import {
  EnvironmentError,
  type Environment,
  type EnvironmentSpec,
  type ResetOptions,
} from '@retrace/environments';
import { deriveSeed } from '@retrace/random';
import type { Json, Split } from '@retrace/trajectory';
import { EnvironmentSourceError } from '../errors.js';
import { EpochOrder } from './epoch-order.js';
import { environmentTask } from './environment-task.js';
import { readTaskFiles, SPLITS } from './read-task-files.js';
import { RowStore } from './row-store.js';

interface SplitRows {
  readonly rows: RowStore;
  readonly order: EpochOrder;
}

/** An environment whose tasks are rows of files. */
export interface TaskedEnvironment {
  readonly spec: EnvironmentSpec;
  close(): void;
}

const QUESTION = 'question';

/** Whether an environment takes whole rows. */
export function takesRows(spec: Pick<EnvironmentSpec, 'name'>): boolean {
  return spec.name === QUESTION;
}

/**
 * Gives an environment the rows of a recipe's files for tasks. A stored task is the whole row, so that rewards find its reference;
 * the environment is reset with the part that is its own. Training tasks go through the files in epochs, each in a new order;
 * held-out ones keep the order of the files.
 *
 * @throws EnvironmentSourceError `TASKS_INVALID` naming file, row and field, or when the files have other rows than the run began with
 */
export async function withTasks(spec: EnvironmentSpec, tasks: TaskRecipe): Promise<TaskedEnvironment> {
  const isQuestion = takesRows(spec);
  const stores = { train: new RowStore(), validation: new RowStore(), test: new RowStore() };
  const close = () => {
    for (const split of SPLITS) stores[split].close();
  };
  try {
    const contents = await readTaskFiles(tasks, {
      isQuestion,
      take: (split, json) => stores[split].add(json),
    });
    if (tasks.contents !== undefined && tasks.contents.sha256 !== contents.sha256) {
      throw new EnvironmentSourceError(
        'TASKS_INVALID',
        `tasks: the files have ${contents.numTrain} training rows with hash ${contents.sha256.slice(0, 12)}, must have the ${tasks.contents.numTrain} rows with hash ${tasks.contents.sha256.slice(0, 12)} that the run began with`,
      );
    }
  } catch (error) {
    close();
    throw error;
  }
  const splits = Object.fromEntries(
    SPLITS.map((split) => [split, splitRows(stores[split], split === 'train' && (tasks.shuffle ?? true))]),
  ) as Readonly<Record<Split, SplitRows>>;
  return { spec: taskedSpec(spec, { splits, tasks, isQuestion }), close };
}

function splitRows(rows: RowStore, shuffle: boolean): SplitRows {
  return { rows, order: new EpochOrder(rows.numRows, { shuffle }) };
}

interface Tasked {
  readonly splits: Readonly<Record<Split, SplitRows>>;
  readonly tasks: TaskRecipe;
  readonly isQuestion: boolean;
}

function taskedSpec(spec: EnvironmentSpec, { splits, tasks, isQuestion }: Tasked): EnvironmentSpec {
  const { familyOf: _, ...rest } = spec;
  return {
    ...rest,
    create: () => taskedEnvironment(spec.create(), { taskField: tasks.taskField, isQuestion }),
    splitsAreDisjoint: true,
    sampleTask({ split, index, seed }) {
      const { rows, order } = splits[split];
      if (rows.numRows === 0)
        throw new EnvironmentError('INVALID_TASK', `the task files have no rows for ${split}`);
      const { row } = order.at(index, seed);
      return { task: rows.at(row), seed: deriveSeed('task', seed, split, index) };
    },
  };
}

/** Resets with the environment's part of a row; all else is the environment's own. */
export function taskedEnvironment(
  environment: Environment,
  { taskField, isQuestion }: { readonly taskField?: string; readonly isQuestion: boolean },
): Environment {
  const reset = environment.reset.bind(environment);
  environment.reset = ({ task, ...rest }: ResetOptions) => {
    const own = environmentTask(task as Json, { taskField, isQuestion });
    if (!own.ok) throw new EnvironmentError('INVALID_TASK', `task: ${own.fault}`);
    return reset({ ...rest, task: own.value });
  };
  return environment;
}
