import type { ValidationTask } from '../api-types/schema';

/** The task that an address names, with those before and after it; the first one where the address names none of them. */
export interface ChosenTask {
  readonly task: ValidationTask;
  /** From 1. */
  readonly number: number;
  readonly previousId: string | null;
  readonly nextId: string | null;
}

/** @param taskId empty = none */
export function chooseTask(tasks: readonly ValidationTask[], taskId: string): ChosenTask | null {
  if (tasks.length === 0) return null;
  const place = Math.max(
    0,
    tasks.findIndex((task) => task.taskId === taskId),
  );
  return {
    task: tasks[place],
    number: place + 1,
    previousId: place === 0 ? null : tasks[place - 1].taskId,
    nextId: tasks.at(place + 1)?.taskId ?? null,
  };
}
