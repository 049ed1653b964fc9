import { readPlay, type StoreReader } from '@retrace/store';
import { CliError } from '../../cli-error.js';
import type { CommonOptions } from '../../options.js';
import { withStore } from '../../services/store-session.js';
import { printPlay } from './print-play.js';

const NEWEST = `
  SELECT substring(arrayFirst(tag -> startsWith(tag, 'play:'), started_tags), 6) AS playId
  FROM runs
  WHERE has(started_tags, 'play')
  ORDER BY started_at DESC
  LIMIT 1`;

/**
 * Prints the report of a stored play.
 *
 * @throws CliError `PLAY_UNKNOWN`
 */
export async function showPlay(play: string, options: CommonOptions): Promise<void> {
  const report = await withStore({ dataDir: options.dataDir }, async ({ client }) =>
    readPlay(client, await wholePlayId(client, play)),
  );
  if (report === null) throw new CliError('PLAY_UNKNOWN', `play "${play}" not found; see "retrace runs"`);
  printPlay(report, options);
}

/** Returns the id of a play, which may be named `latest`. */
export async function wholePlayId(client: StoreReader, play: string): Promise<string> {
  if (play !== 'latest') return play;
  const [newest] = await client.queryRows<{ playId: string } | undefined>(NEWEST);
  return newest?.playId ?? play;
}
