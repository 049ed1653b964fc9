import { Injectable } from '@nestjs/common';
import { ConfigError, whatIfRecipe, type Recipe } from '@retrace/config';
import type { WhatIfQuestion } from '@retrace/process';
import { ProblemError } from '../problems/problem.js';
import { shown, shorten, type Violation } from '../problems/violations.js';
import { StoreService } from '../store/store.service.js';
import { AskedRun, uncommittedUpdate } from '../update-questions/asked-run.js';
import type { WhatIfRequest } from './what-ifs.dto.js';

/** Each compared update takes as long as three updates of its run. */
const MAX_UPDATES = 50;
/** The first characters of a hash that may name its version. */
const MIN_PREFIX = 4;

/** Checks a question before a process is started for it. */
@Injectable()
export class WhatIfCheck {
  constructor(
    private readonly store: StoreService,
    private readonly run: AskedRun,
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
      ...setViolations(recipe, set),
      ...(rewardVersion === null ? [] : await this.versionViolations(runId, rewardVersion)),
    ];
    if (violations.length > 0)
      throw new ProblemError('INVALID_REQUEST', violations.map(({ rule }) => rule).join('; '), violations);
    return { kind: 'whatIf', runId, from, to, assignments: set, rewardVersion, withTokens };
  }

  private async versionViolations(runId: string, wanted: string): Promise<Violation[]> {
    const known = await this.store.queryRows<{ version: string; name: string }>(
      'SELECT reward_version AS version, name FROM reward_versions WHERE run_id = {runId:String} ORDER BY named_at DESC LIMIT 1000',
      { runId },
    );
    const isNamed = known.some(({ name }) => name === wanted);
    const starting = known.filter(({ version }) => wanted.length >= MIN_PREFIX && version.startsWith(wanted));
    if (isNamed || new Set(starting.map(({ version }) => version)).size === 1) return [];
    const names = [...new Set(known.map(({ name }) => name))].slice(0, 10).join(', ');
    const allowed =
      names === '' ? 'the run has none: score it first, with "retrace score"' : `such as ${names}`;
    const rule = `rewardVersion must be a reward version of the run, got ${shown(wanted)}; ${allowed}`;
    return [{ field: 'rewardVersion', value: shorten(wanted), rule }];
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

/** Takes one assignment after the other, so that the first that breaks a rule is named. */
function setViolations(recipe: Recipe, set: readonly string[]): Violation[] {
  for (let i = 0; i < set.length; i++) {
    const rule = faultOf(recipe, set.slice(0, i + 1));
    if (rule !== null) return [{ field: `set.${i}`, value: shorten(set[i]), rule: `set.${i}: ${rule}` }];
  }
  return [];
}

function faultOf(recipe: Recipe, assignments: readonly string[]): string | null {
  try {
    return moduleFault(recipe, whatIfRecipe(recipe, assignments));
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
}

/** Modules are code of this machine, which no request may choose. */
function moduleFault({ reward: recorded }: Recipe, { reward: changed }: Recipe): string | null {
  const known = new Set(recorded.components.map(({ module }) => module));
  const other = changed.components.find(({ module }) => module !== undefined && !known.has(module));
  return other === undefined
    ? null
    : `reward.components: got the module ${shown(other.module)}, must be one of the run: over HTTP no other file is loaded`;
}
