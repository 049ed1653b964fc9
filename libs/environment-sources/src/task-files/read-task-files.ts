import { createHash } from 'node:crypto';
import type { TaskRecipe } from '@retrace/config';
import { questionFault, splitOf } from '@retrace/environments';
import { findRowLayout, isBroken, openRows } from '@retrace/rows';
import { isJsonObject, type Json, type Split } from '@retrace/trajectory';
import { EnvironmentSourceError } from '../errors.js';
import { environmentTask } from './environment-task.js';

export const SPLITS = ['train', 'validation', 'test'] as const satisfies readonly Split[];

/** Called with each row, in the order of the files. */
export type TakeRow = (split: Split, json: Buffer) => void;

type Contents = NonNullable<TaskRecipe['contents']>;

/**
 * Reads all rows of a recipe's task files, a piece at a time, and checks each.
 *
 * @returns numbers of rows and their hash
 * @throws EnvironmentSourceError `TASKS_INVALID` naming file, row and field, or that a split that is needed has no rows
 */
export async function readTaskFiles(
  tasks: TaskRecipe,
  { isQuestion, take }: { readonly isQuestion: boolean; readonly take: TakeRow },
): Promise<Contents> {
  const hash = createHash('sha256');
  const counts: Record<Split, number> = { train: 0, validation: 0, test: 0 };
  const isDivided = tasks.validation === undefined && tasks.test === undefined;
  for (const split of SPLITS) {
    for (const path of tasks[split] ?? []) {
      for await (const json of readRows(path, { field: `tasks.${split}`, tasks, isQuestion })) {
        const own = isDivided ? splitOf(json) : split;
        const bytes = Buffer.from(json);
        hash.update(own).update('\n').update(bytes).update('\n');
        counts[own] += 1;
        take(own, bytes);
      }
    }
  }
  if (counts.train === 0) throw invalid(`tasks.train: ${tasks.train.join(', ')} have no rows for training`);
  const { train: numTrain, validation: numValidation, test: numTest } = counts;
  return { numTrain, numValidation, numTest, sha256: hash.digest('hex') };
}

interface FileSetting {
  readonly field: string;
  readonly tasks: TaskRecipe;
  readonly isQuestion: boolean;
}

async function* readRows(path: string, { field, tasks, isQuestion }: FileSetting): AsyncGenerator<string> {
  const at = (row: number, fault: string) =>
    invalid(`${field}: file "${path}"${row > 0 ? `, row ${row}` : ''}, ${fault}`);
  try {
    for await (const row of openRows(path, await findRowLayout(path), null)) {
      if (isBroken(row)) throw at(row.number, row.detail);
      const value = row.value as Json;
      const fault = rowFault(value, { tasks, isQuestion });
      if (fault !== null) throw at(row.number, fault);
      yield JSON.stringify(value);
    }
  } catch (error) {
    if (error instanceof EnvironmentSourceError) throw error;
    throw at(0, `cannot be read: ${(error as Error).message}`);
  }
}

function rowFault(row: Json, { tasks, isQuestion }: Omit<FileSetting, 'field'>): string | null {
  if (!isJsonObject(row)) {
    return `got ${JSON.stringify(row).slice(0, 80)}, must be an object`;
  }
  const task = environmentTask(row, { taskField: tasks.taskField, isQuestion });
  if (!task.ok) return task.fault;
  return isQuestion ? questionFault(task.value) : null;
}

function invalid(message: string): EnvironmentSourceError {
  return new EnvironmentSourceError('TASKS_INVALID', message);
}
