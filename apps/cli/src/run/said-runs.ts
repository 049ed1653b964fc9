import type { RunState } from '@retrace/trajectory';
import { shownText } from '../terminal/shown-text.js';

/** Lines of this command: it may look for its run more than once. */
const said = new Set<string>();

/** For the next command of this process. */
export function forgetChosenRuns(): void {
  said.clear();
}

/** Tells the user which run a name stands for that is not its whole id: in one line on stderr, as results go to stdout. */
export function sayChosenRun(
  wanted: string,
  { runId, started: { name } }: Pick<RunState, 'runId' | 'started'>,
): void {
  const line = `run "${shownText(wanted)}" is ${runId} (${shownText(name)})`;
  if (said.has(line)) return;
  said.add(line);
  process.stderr.write(`${line}\n`);
}
