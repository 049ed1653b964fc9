import type { CustomAgentSpec } from '@retrace/agents';
import { importModule } from '@retrace/process/modules';
import { CollectorError } from '../../collector-error.js';

const EXAMPLE = 'must be export default { name, begin }, or a function of options that returns that';

/**
 * Loads the agent that a file exports as its default: a `CustomAgentSpec`, or a function of the recipe's options that returns one, also by
 * promise.
 *
 * @throws CollectorError `INVALID_SETTING` naming the file and what is wrong with it
 */
export async function loadAgentModule(
  path: string,
  options: Readonly<Record<string, unknown>> = {},
): Promise<CustomAgentSpec> {
  let spec: unknown;
  try {
    const exported = await importModule(path);
    spec =
      typeof exported === 'function' ? await (exported as (options: unknown) => unknown)(options) : exported;
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new CollectorError('INVALID_SETTING', `agent.module ${path}: ${message}; ${EXAMPLE}`);
  }
  const { name, begin } = (spec ?? {}) as Partial<CustomAgentSpec>;
  if (typeof name === 'string' && name !== '' && typeof begin === 'function') return spec as CustomAgentSpec;
  throw new CollectorError(
    'INVALID_SETTING',
    `agent.module ${path}: its default export is no agent; ${EXAMPLE}`,
  );
}
