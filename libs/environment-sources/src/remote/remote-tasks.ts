import { splitOf, type EnvironmentSpec } from '@retrace/environments';
import { deriveSeed } from '@retrace/random';
import { isJsonObject, type Json, type Split } from '@retrace/trajectory';
import type { RemoteDescription } from './adapter.js';

/** Tasks whose index decides their split, so that a tenth of them has enough for each. */
const MIN_TASKS_TO_SPLIT = 100;

/** Whether splits have tasks of their own; with few tasks all splits share them. */
export function splitsTasks(numTasks: number | null): boolean {
  return numTasks !== null && numTasks >= MIN_TASKS_TO_SPLIT;
}

/**
 * Draws tasks of a server: `{ family?, index }` where it has tasks by index; else `{ family?, split }`, which the server makes a task
 * from with the seed. With 100 tasks or more, the split of a task follows from name, family and index.
 */
export function taskSampler(
  name: string,
  { numTasks, families }: Pick<RemoteDescription, 'numTasks' | 'families'>,
): EnvironmentSpec['sampleTask'] {
  return ({ split, index, seed }) => {
    const taskSeed = deriveSeed(name, seed, split, index);
    const family: Readonly<Record<string, string>> =
      families.length === 0 ? {} : { family: families[index % families.length] };
    if (numTasks === null) return { task: { ...family, split }, seed: taskSeed };
    for (let draw = 0; ; draw++) {
      const place = deriveSeed('task', taskSeed, draw) % numTasks;
      if (!splitsTasks(numTasks) || splitOfTask(name, family.family, place) === split) {
        return { task: { ...family, index: place }, seed: taskSeed };
      }
    }
  };
}

/** Kind of a task of `taskSampler`; '' where all are of one kind, or the server only tells it as it plays. */
export function taskFamily(task: Json, { familyByIndex }: Pick<RemoteDescription, 'familyByIndex'>): string {
  const { family, index } = task as { readonly family?: Json; readonly index?: Json };
  if (typeof family === 'string') return family;
  return typeof index === 'number' ? (familyByIndex?.(index) ?? '') : '';
}

/** Says why a task is none of `taskSampler`; null where it is one. */
export function taskFault(task: Json): string | null {
  if (isJsonObject(task)) {
    const { index, split } = task;
    if (Number.isSafeInteger(index) && (index as number) >= 0) return null;
    if (index === undefined && typeof split === 'string') return null;
  }
  return `task is ${JSON.stringify(task)}, must have an index of at least 0, or a split`;
}

function splitOfTask(name: string, family: string | undefined, index: number): Split {
  return splitOf(family === undefined ? `${name}/${index}` : `${name}/${family}/${index}`);
}
