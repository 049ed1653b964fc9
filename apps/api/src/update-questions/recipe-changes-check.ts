import { Injectable } from '@nestjs/common';
import { ConfigError, whatIfRecipe, type Recipe } from '@retrace/config';
import { shown, shorten, type Violation } from '../problems/violations.js';
import { StoreService } from '../store/store.service.js';
import type { RecipeChanges } from './recipe-changes.dto.js';

/** The first characters of a hash that may name its version. */
const MIN_PREFIX = 4;

/** Checks what a question changes of a run's recipe, before a process is started for it. */
@Injectable()
export class RecipeChangesCheck {
  constructor(private readonly store: StoreService) {}

  async violations(
    { runId, recipe }: { readonly runId: string; readonly recipe: Recipe },
    { set = [], rewardVersion }: RecipeChanges,
  ): Promise<Violation[]> {
    const ofVersion = rewardVersion === undefined ? [] : await this.versionViolations(runId, rewardVersion);
    return [...setViolations(recipe, set), ...ofVersion];
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

/** Names the assignment after the longest beginning of the list that is valid: some fields can only be changed together. */
function setViolations(recipe: Recipe, set: readonly string[]): Violation[] {
  const ofAll = findFault(recipe, set);
  if (ofAll === null) return [];
  let numValid = set.length - 1;
  while (numValid > 0 && findFault(recipe, set.slice(0, numValid)) !== null) numValid--;
  const fault = findFault(recipe, set.slice(0, numValid + 1)) ?? ofAll;
  const whole = fault === ofAll ? '' : `; all together: ${ofAll}`;
  return [
    { field: `set.${numValid}`, value: shorten(set[numValid]), rule: `set.${numValid}: ${fault}${whole}` },
  ];
}

function findFault(recipe: Recipe, assignments: readonly string[]): string | null {
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
