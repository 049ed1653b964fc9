import { ProblemError } from '../problems/problem.js';
import type { StoreService } from './store.service.js';

/** Reads the row of one run by a statement with the parameter `runId`. @throws ProblemError `NOT_FOUND` */
export async function readRun<Row>(store: StoreService, sql: string, runId: string): Promise<Row> {
  const [row] = await store.queryRows<Row | undefined>(sql, { runId });
  if (row === undefined) throw runNotFound(runId);
  return row;
}

export function runNotFound(runId: string): ProblemError {
  return new ProblemError('NOT_FOUND', `Run ${runId} not found`);
}
