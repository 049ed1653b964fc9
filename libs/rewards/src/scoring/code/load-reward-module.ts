import { pathToFileURL } from 'node:url';
import { importModule, type ModuleFault } from '@retrace/process/modules';
import { componentFault, type RewardComponent, type RewardImplementation } from '../../component.js';
import type { ComponentConfig } from '../../composer.js';
import { codeHash } from './module-code.js';
import { RewardError } from '../../errors.js';

/**
 * Loads the rewards that files export as their default, by path.
 *
 * A file is run once per content: an edited one is run again, while the modules that it imports are kept until the process ends.
 *
 * @param configs paths in `module` must be absolute; components without a module are left out
 * @throws RewardError `MODULE_INVALID` naming the file and what is wrong with it
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
  const refuse = (what: string, cause?: unknown): RewardError =>
    new RewardError('MODULE_INVALID', `reward module ${path}: ${what}`, { cause });
  let component: RewardComponent;
  try {
    component = (await importModule(path, codeHash)) as RewardComponent;
  } catch (cause) {
    const { message } = cause as ModuleFault;
    const hint = '; must be export default defineReward({ name, description, options, score })';
    throw refuse(message === 'has no default export' ? message + hint : message, cause);
  }
  const fault = componentFault(component);
  if (fault !== null) throw refuse(`its default export is not a reward: ${fault}`);
  return { name: component.name, component, module: pathToFileURL(path).href };
}
