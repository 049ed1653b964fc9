import { retryDeadLetters } from '@retrace/store';
import type { CommonOptions } from '../../options.js';
import { withStore } from '../../services/store-session.js';
import { makeFilter, type FilterOptions } from './filter.js';

interface RetryOptions extends CommonOptions, FilterOptions {
  readonly dryRun?: true;
}

/** Decodes dead letters again and prints how many are ordinary rows now. */
export async function retry(options: RetryOptions): Promise<void> {
  const dryRun = options.dryRun === true;
  const report = await withStore(options, async ({ client, log }) =>
    retryDeadLetters({
      client,
      maxEventBytes: log.maxEventBytes,
      dryRun,
      ...(await makeFilter(log, options)),
    }),
  );
  if (options.json === true) {
    console.log(JSON.stringify({ ...report, dryRun }, null, 2));
    return;
  }
  const { numDeadLetters, numDecoded, remaining } = report;
  const left = Object.entries(remaining).map(([code, count]) => `${count} ${code}`);
  console.log(
    `${numDeadLetters} dead letters: ${numDecoded} ${dryRun ? 'can be decoded' : 'are ordinary rows now'}` +
      (left.length === 0 ? '' : `; not decoded: ${left.join(', ')}`),
  );
}
