import { Injectable } from '@nestjs/common';
import type { WhatIfQuestion } from '@retrace/process';
import { ProblemError } from '../problems/problem.js';
import { shown, type Violation } from '../problems/violations.js';
import { AskedRun, uncommittedUpdate } from '../update-questions/asked-run.js';
import { RecipeChangesCheck } from '../update-questions/recipe-changes-check.js';
import type { WhatIfRequest } from './what-ifs.dto.js';

/** Each compared update takes as long as three updates of its run. */
const MAX_UPDATES = 50;

/** Checks a question before a process is started for it. */
@Injectable()
export class WhatIfCheck {
  constructor(
    private readonly run: AskedRun,
    private readonly changes: RecipeChangesCheck,
  ) {}

  /** @throws ProblemError `NOT_FOUND`, `RUN_NOT_TRAINED`, `INVALID_REQUEST` naming each field, its value and the rule */
  async questionOf(runId: string, request: WhatIfRequest): Promise<WhatIfQuestion> {
    const recipe = await this.run.recipeOf(runId);
    const {
      updateNumber: from,
      toUpdate: to = from,
      set = [],
      rewardVersion = null,
      withTokens = false,
    } = request;
    const violations = [
      ...rangeViolations({ from, to, withTokens }, await this.run.newestUpdate(runId)),
      ...(await this.changes.violations({ runId, recipe }, request)),
    ];
    if (violations.length > 0)
      throw new ProblemError('INVALID_REQUEST', violations.map(({ rule }) => rule).join('; '), violations);
    return { kind: 'whatIf', runId, from, to, assignments: set, rewardVersion, withTokens };
  }
}

function rangeViolations(
  { from, to, withTokens }: Pick<WhatIfQuestion, 'from' | 'to' | 'withTokens'>,
  newest: number,
): Violation[] {
  const violations: Violation[] = [];
  const add = (field: string, value: unknown, rule: string) =>
    violations.push({ field, value, rule: `${field} must be ${rule}, got ${shown(value)}` });
  const uncommitted =
    uncommittedUpdate('updateNumber', from, newest) ??
    (to < from ? null : uncommittedUpdate('toUpdate', to, newest));
  if (uncommitted !== null) violations.push(uncommitted);
  if (to < from) add('toUpdate', to, `at least updateNumber, ${from}`);
  else if (to <= newest && to - from >= MAX_UPDATES)
    add('toUpdate', to, `at most ${from + MAX_UPDATES - 1}: ${MAX_UPDATES} updates`);
  if (withTokens && to > from) add('withTokens', true, 'false for several updates');
  return violations;
}
