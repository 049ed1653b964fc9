import { readStartedPlay } from '@retrace/store';
import { CliError } from '../../cli-error.js';
import type { CommonOptions } from '../../options.js';
import type { BackendChoice } from '@retrace/process';
import { withStore } from '../../services/store-session.js';
import { play } from './play.js';
import { wholePlayId } from './show-play.js';
import type { PlayCommand } from './started-attempts.js';

/**
 * Goes on with a play that was interrupted or killed: no attempt that has ended is played again, and none is missing in the end.
 *
 * @throws CliError `PLAY_UNKNOWN`; what `play` throws
 */
export async function resumePlay(
  name: string,
  { dataDir, json, verbose, backend }: CommonOptions & { readonly backend?: BackendChoice },
): Promise<void> {
  const started = await withStore({ dataDir }, async ({ client, catchUp }) => {
    await catchUp();
    return readStartedPlay(client, await wholePlayId(client, name));
  });
  if (started === null) throw new CliError('PLAY_UNKNOWN', `play "${name}" not found; see "retrace runs"`);
  if (started.command === null) {
    const message = `play ${started.playId} is of an older version, which did not store how to go on; play again`;
    throw new CliError('PLAY_UNKNOWN', message);
  }
  const command = started.command as unknown as PlayCommand;
  await play({ ...command, dataDir, json, verbose, backend }, started);
}
