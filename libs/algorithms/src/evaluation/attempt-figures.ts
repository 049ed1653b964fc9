import type { Interval } from './bootstrap.js';
import { clusterByGroup } from './clusters.js';
import { passAtK } from './pass-at-k.js';
import { successRate } from './success-rate.js';

/** An episode of known outcome. */
export interface TaskAttempt {
  /** Identifies the task among the others. */
  readonly task: string | number;
  readonly isSuccess: boolean;
}

/** Figures of attempts at tasks. */
export interface AttemptFigures {
  readonly numSuccesses: number;
  /** Successes per attempt; null without attempts. */
  readonly rate: number | null;
  readonly interval: Interval;
  /** Attempts that the interval counts; see `successRate`. */
  readonly effectiveEpisodes: number;
  /** For k = 1, 2, 4 … and the most attempts at a task: the mean of `passAtK` over the tasks with at least k attempts. */
  readonly passAtK: readonly { readonly k: number; readonly pass: number; readonly numTasks: number }[];
}

/** Success rate with its interval, and pass@k, of any number of attempts at each task. */
export function attemptFigures(attempts: readonly TaskAttempt[]): AttemptFigures {
  const tasks = new Map<TaskAttempt['task'], { number: number; numAttempts: number; numSuccesses: number }>();
  const taskNumbers = Int32Array.from(attempts, ({ task, isSuccess }) => {
    const known = tasks.get(task) ?? { number: tasks.size, numAttempts: 0, numSuccesses: 0 };
    known.numAttempts += 1;
    known.numSuccesses += Number(isSuccess);
    tasks.set(task, known);
    return known.number;
  });
  const { rate, interval, effectiveEpisodes } = successRate(
    attempts.map(({ isSuccess }) => Number(isSuccess)),
    clusterByGroup(taskNumbers, attempts.length),
  );
  const counts = [...tasks.values()];
  const most = counts.reduce((max, { numAttempts }) => Math.max(max, numAttempts), 0);
  const powers = [...Array(31).keys()].map((i) => 2 ** i).filter((k) => k < most);
  return {
    numSuccesses: counts.reduce((sum, { numSuccesses }) => sum + numSuccesses, 0),
    rate: Number.isNaN(rate) ? null : rate,
    interval,
    effectiveEpisodes,
    passAtK: (most === 0 ? [] : [...powers, most]).map((k) => {
      const enough = counts.filter(({ numAttempts }) => numAttempts >= k);
      const sum = enough.reduce((total, task) => total + passAtK(task.numAttempts, task.numSuccesses, k), 0);
      return { k, pass: sum / enough.length, numTasks: enough.length };
    }),
  };
}
