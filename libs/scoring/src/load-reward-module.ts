import { existsSync } from 'node:fs';
import { register } from 'node:module';
import { isAbsolute } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  componentFault,
  type ComponentConfig,
  type RewardComponent,
  type RewardImplementation,
} from '@retrace/rewards';
import { codeHash } from './module-code.js';
import { ScoringError } from './scoring-error.js';

/**
 * Lets a file in any folder import `@retrace/rewards`, which is resolved from this module if it is not found from there. Runs in
 * Node's loader thread, so it is a separate module.
 */
const RESOLVE_FROM_HERE = `
  let here;
  export function initialize(data) { here = data.here; }
  export async function resolve(specifier, context, next) {
    try {
      return await next(specifier, context);
    } catch (error) {
      if (!/^@retrace\\/(rewards|algorithms\\/registry)$/.test(specifier)) throw error;
      return next(specifier, { ...context, parentURL: here });
    }
  }`;
let isHookRegistered = false;

/**
 * Loads the rewards that files export as their default, by path.
 *
 * A file is run once per content: an edited one is run again, while the modules that it imports are kept until the process ends.
 *
 * @param configs paths in `module` must be absolute; components without a module are left out
 * @throws ScoringError `MODULE_INVALID` naming the file and what is wrong with it
 */
export async function loadRewardModules(
  configs: readonly ComponentConfig[],
): Promise<Map<string, RewardImplementation>> {
  const loaded = new Map<string, RewardImplementation>();
  for (const { module } of configs) {
    if (module !== undefined && !loaded.has(module)) loaded.set(module, await loadRewardModule(module));
  }
  return loaded;
}

async function loadRewardModule(path: string): Promise<RewardImplementation> {
  const refuse = (what: string, cause?: unknown): ScoringError =>
    new ScoringError('MODULE_INVALID', `reward module ${path}: ${what}`, { cause });
  if (!isAbsolute(path)) throw refuse('must be an absolute path, or relative to a recipe file');
  if (!existsSync(path)) throw refuse('not found');
  if (!isHookRegistered) {
    register(`data:text/javascript,${encodeURIComponent(RESOLVE_FROM_HERE)}`, {
      parentURL: import.meta.url,
      data: { here: import.meta.url },
    });
    isHookRegistered = true;
  }
  const { href } = pathToFileURL(path);
  let exported: { readonly default?: unknown };
  try {
    exported = (await import(/* @vite-ignore */ `${href}?code=${codeHash(href)}`)) as typeof exported;
  } catch (cause) {
    throw refuse(`running it failed: ${cause instanceof Error ? cause.message : String(cause)}`, cause);
  }
  if (exported.default === undefined) {
    throw refuse(
      'has no default export; must be export default defineReward({ name, description, options, score })',
    );
  }
  const fault = componentFault(exported.default);
  if (fault !== null) throw refuse(`its default export is not a reward: ${fault}`);
  const component = exported.default as RewardComponent;
  return { name: component.name, component, module: href };
}
