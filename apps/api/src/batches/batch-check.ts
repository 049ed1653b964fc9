import { Injectable } from '@nestjs/common';
import { playsGreedyBaseline, recordedRecipe, whatIfRecipe } from '@retrace/config';
import type { BatchQuestion } from '@retrace/process';
import { ProblemError } from '../problems/problem.js';
import type { Violation } from '../problems/violations.js';
import { AskedRun, uncommittedUpdate } from '../update-questions/asked-run.js';
import { RecipeChangesCheck } from '../update-questions/recipe-changes-check.js';
import { DrawnGroups, whereViolation } from './drawn-groups.js';
import type { BatchRequest } from './batches.dto.js';

/** Fields of a request for groups that are drawn. */
const OF_DRAWN = ['where', 'groups', 'order', 'seed', 'temperature'] as const;

/** Checks what is asked for, and draws its groups, before a process is started for it. */
@Injectable()
export class BatchCheck {
  constructor(
    private readonly run: AskedRun,
    private readonly changes: RecipeChangesCheck,
    private readonly drawn: DrawnGroups,
  ) {}

  /**
   * @throws ProblemError `NOT_FOUND`, `INVALID_REQUEST` naming each field, its value and the rule,
   *   `NO_EPISODES`, and as user SQL for `where`
   */
  async questionOf(runId: string, request: BatchRequest): Promise<Omit<BatchQuestion, 'file'>> {
    const { updateNumber = null, seed = 0, set: assignments = [], rewardVersion = null } = request;
    const isRecorded = await this.run.isRecorded(runId);
    const temperature = isRecorded ? (request.temperature ?? 1) : null;
    const recipe = temperature === null ? await this.run.recipeOf(runId) : recordedRecipe(temperature);
    const violations = [
      ...(updateNumber === null
        ? []
        : await this.updateViolations({ runId, isRecorded }, updateNumber, request)),
      ...(isRecorded ? [] : temperatureViolations(request)),
      ...whereViolations(request),
      ...(await this.changes.violations({ runId, recipe }, request)),
    ];
    if (violations.length > 0)
      throw new ProblemError('INVALID_REQUEST', violations.map(({ rule }) => rule).join('; '), violations);
    const withGreedy = playsGreedyBaseline(whatIfRecipe(recipe, assignments));
    const groups = updateNumber === null ? await this.drawn.draw({ runId, withGreedy }, request) : [];
    return { kind: 'batch', runId, updateNumber, groups, seed, assignments, rewardVersion, temperature };
  }

  private async updateViolations(
    { runId, isRecorded }: { readonly runId: string; readonly isRecorded: boolean },
    updateNumber: number,
    request: BatchRequest,
  ): Promise<Violation[]> {
    const uncommitted = uncommittedUpdate('updateNumber', updateNumber, await this.run.newestUpdate(runId));
    const others = OF_DRAWN.filter(
      (field) => request[field] !== undefined && !(isRecorded && field === 'temperature'),
    );
    return [
      ...(uncommitted === null ? [] : [uncommitted]),
      ...others.map((field) => ({
        field,
        value: request[field],
        rule: `${field} must be absent with updateNumber, which has its episodes`,
      })),
    ];
  }
}

function temperatureViolations({ temperature, updateNumber }: BatchRequest): Violation[] {
  if (temperature === undefined || updateNumber !== undefined) return [];
  const rule = 'temperature must be absent for a run that was trained here: its recipe has it';
  return [{ field: 'temperature', value: temperature, rule }];
}

function whereViolations({ where }: BatchRequest): Violation[] {
  const violation = where === undefined ? null : whereViolation(where);
  return violation === null ? [] : [violation];
}
