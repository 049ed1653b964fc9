import { customFormat, type ActionFormat } from '@retrace/agents';
import { importModule } from '@retrace/process/modules';
import { CollectorError } from '../../collector-error.js';

/**
 * Loads the action format that a file exports as its default: a `CustomFormatSpec`, or a function of the recipe's options that returns one, also by
 * promise.
 *
 * @throws CollectorError `INVALID_SETTING` naming the file and what is wrong with it
 */
export async function loadFormatModule(
  path: string,
  options: Readonly<Record<string, unknown>> = {},
): Promise<ActionFormat> {
  try {
    const exported = await importModule(path);
    return customFormat(
      typeof exported === 'function' ? await (exported as (options: unknown) => unknown)(options) : exported,
    );
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new CollectorError('INVALID_SETTING', `agent.formatModule ${path}: ${message}`);
  }
}
