import { readPlayerName } from '@retrace/collector';
import { parseRecipe, resolveEnvironment, type Recipe } from '@retrace/config';
import type { ControlTail } from '@retrace/log';
import { publishingRun } from '@retrace/runs';
import { CliError } from '../../cli-error.js';
import { runPart } from '../../run/policy-name.js';
import { sayChosenRun } from '../../run/said-runs.js';
import type { PlayRequest } from './play-request.js';

const RULE = 'name where to play with --environment, or with --recipe';

/** @throws CliError `OPTION_INVALID` where no option can say where to play */
export function requirePlace({ environments, recipe, policies }: PlayRequest): void {
  const isStored = (policy: string) => readPlayerName(policy).kind === 'stored';
  if (environments.length > 0 || recipe !== undefined || policies.some(isStored)) return;
  throw new CliError('OPTION_INVALID', `play: ${RULE}`);
}

interface PlaceOptions {
  readonly recipe: Recipe | undefined;
  readonly control: ControlTail;
  /** The stored policy that a name meant when the play began. */
  readonly samePolicy: (policy: string) => string | null;
}

/**
 * The environments that a play names, or else that of its recipe, or else that in which its stored policies were trained.
 *
 * @throws CliError `OPTION_INVALID` where these policies are of different environments; RunsError `RUN_UNKNOWN`
 */
export function whereToPlay(
  { environments, policies }: PlayRequest,
  { recipe, control, samePolicy }: PlaceOptions,
): readonly Recipe['environment'][] {
  if (environments.length > 0) return environments.map((name) => resolveEnvironment(name));
  if (recipe !== undefined) return [recipe.environment];
  const found = new Map<string, Recipe['environment']>();
  for (const policy of policies) {
    const run = runPart(samePolicy(policy) ?? policy);
    if (run === null) continue;
    const { environment } = parseRecipe(publishingRun(control.state.runs, run, sayChosenRun).started.recipe);
    found.set(JSON.stringify(environment), environment);
  }
  if (found.size === 1) return [...found.values()];
  const trained = found.size === 0 ? '' : `the policies were trained in ${[...found.keys()].join(' and ')}; `;
  throw new CliError('OPTION_INVALID', `play: ${trained}${RULE}`);
}
