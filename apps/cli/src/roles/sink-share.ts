import { ConfigError } from '@retrace/config';
import type { SinkShare } from '@retrace/trajectory/clickhouse';

/**
 * Which of several sinks this is: RETRACE_SINK_SHARE is `1/3` for the first of three (default: the only one).
 *
 * @throws ConfigError `ENVIRONMENT_VARIABLE_INVALID`
 */
export function readShare(environment: NodeJS.ProcessEnv): SinkShare {
  const text = environment.RETRACE_SINK_SHARE ?? '';
  if (text === '') return { index: 0, count: 1 };
  const [, number, count] = (/^(\d{1,4})\/(\d{1,4})$/.exec(text) ?? []).map(Number);
  if (!(number >= 1 && number <= count)) {
    const rule = 'must be <number>/<count>, such as 1/3 for the first of three sinks';
    throw new ConfigError(
      'ENVIRONMENT_VARIABLE_INVALID',
      `RETRACE_SINK_SHARE: got ${JSON.stringify(text)}, ${rule}`,
    );
  }
  return { index: number - 1, count };
}
