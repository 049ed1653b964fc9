import { resolveEnvironment } from '@retrace/config';
import { checkEnvironment, openEnvironment, type CheckedRule } from '@retrace/environment-sources';
import { CliError } from '../../cli-error.js';
import type { CommonOptions } from '../../options.js';

interface CheckOptions extends Pick<CommonOptions, 'json'> {
  readonly episodes: number;
}

/**
 * Prints each rule of the contract, with what breaks it.
 *
 * @throws CliError `CHECK_FAILED` when a rule is broken
 */
export async function check(nameOrFile: string, { episodes, json }: CheckOptions): Promise<void> {
  const { spec, close } = await openEnvironment(resolveEnvironment(nameOrFile));
  let rules: CheckedRule[];
  try {
    rules = await checkEnvironment(spec, { numEpisodes: episodes });
  } finally {
    await close();
  }
  if (json === true) console.log(JSON.stringify({ environment: spec.name, rules }, null, 2));
  else {
    for (const { rule, fault } of rules) {
      console.log(fault === null ? `ok      ${rule}` : `broken  ${rule}\n        ${fault}`);
    }
  }
  const numBroken = rules.filter(({ fault }) => fault !== null).length;
  if (numBroken > 0) {
    throw new CliError('CHECK_FAILED', `${spec.name} breaks ${numBroken} of ${rules.length} rules`);
  }
}
