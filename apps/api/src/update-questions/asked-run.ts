import { Injectable } from '@nestjs/common';
import { ConfigError, parseRecipe, type Recipe } from '@retrace/config';
import { ProblemError } from '../problems/problem.js';
import { shown, type Violation } from '../problems/violations.js';
import { readRun } from '../store/read-run.js';
import { StoreService } from '../store/store.service.js';

/** Reads of a run what a question about its updates is checked by, before a process is started for it. */
@Injectable()
export class AskedRun {
  constructor(private readonly store: StoreService) {}

  /** Whether it was recorded, so that it has no recipe. @throws ProblemError `NOT_FOUND` */
  async isRecorded(runId: string): Promise<boolean> {
    return (await this.find(runId)).kind === 'recorded';
  }

  /** @throws ProblemError `NOT_FOUND`, `RUN_NOT_TRAINED` */
  async recipeOf(runId: string): Promise<Recipe> {
    const run = await this.find(runId);
    if (run.kind === 'recorded')
      throw new ProblemError(
        'RUN_NOT_TRAINED',
        `Run ${runId} was recorded; only a trainer that made updates of it can make them again`,
      );
    try {
      return parseRecipe(JSON.parse(run.recipe));
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      const what = `The recipe of run ${runId} is not valid in this version: ${error.message}`;
      throw new ProblemError('RUN_NOT_TRAINED', what);
    }
  }

  private find(runId: string): Promise<{ readonly kind: string; readonly recipe: string }> {
    return readRun(this.store, 'SELECT kind, recipe FROM runs WHERE run_id = {runId:String}', runId);
  }

  /** Number of the newest committed update, 0 without one. */
  async newestUpdate(runId: string): Promise<number> {
    const [{ newest }] = await this.store.queryRows<{ newest: number }>(
      'SELECT max(update_number) AS newest FROM updates WHERE run_id = {runId:String} AND applied_at IS NOT NULL',
      { runId },
    );
    return newest;
  }
}

/** The violation of a field that names no committed update; null where it does. */
export function uncommittedUpdate(field: string, asked: number, newest: number): Violation | null {
  if (asked <= newest) return null;
  const committed =
    newest === 0 ? 'a committed update; the run has none yet' : `a committed update, 1 to ${newest}`;
  return { field, value: asked, rule: `${field} must be ${committed}, got ${shown(asked)}` };
}
