/**
 * The process of user SQL: an engine of its own, which reads the files of the store and can be killed at any time. Its parent sends
 * statements over the IPC channel; results go through the parent's named pipes.
 */
import { stat } from 'node:fs/promises';
import { USER_SQL_CONFIG } from '../engine/engine-config.js';
import { Engine, type RunningStatement } from '../engine/engine.js';
import { lowerPriority } from './lower-priority.js';
import type { FromUserSqlProcess, ToUserSqlProcess, UserStatement } from './process-messages.js';
import { readParts } from './store-snapshot.js';

/** Steps of priority below the store: other processes go first when every core is in use. */
const NICENESS = 10;

/** The engine's copy of the list of parts, read again when a statement must see others. */
class PartList {
  private known: readonly string[] = [];
  private refreshing: Promise<void> = Promise.resolve();

  constructor(
    private readonly engine: Engine,
    private readonly disks: readonly string[],
  ) {}

  /** Resolves once the engine has the parts, or has later ones in their place. */
  async show(parts: readonly string[]): Promise<void> {
    // One after another: the parts that a statement waits for may be those of the refresh before.
    const refreshed = this.refreshing.then(() => (isSame(parts, this.known) ? undefined : this.refresh()));
    this.refreshing = refreshed.catch(() => undefined);
    await refreshed;
  }

  private async refresh(): Promise<void> {
    for (const disk of this.disks) await this.engine.query(`SYSTEM RESTART DISK ${disk}`);
    const parts = await readParts(this.engine);
    // A refresh replaces parts by those that cover them. One that was dropped stays, and its files are gone.
    await Promise.all(parts.map(({ path }) => stat(path))).catch((cause: unknown) => {
      throw new StalePartsError('a part was dropped', { cause });
    });
    this.known = parts.map(({ name }) => name);
  }
}

/** The engine lists a part that the store has no longer. */
class StalePartsError extends Error {}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name, i) => name === b[i]);
}

/** Ends without the engine's own clean-up, which would wait for what runs. */
function end(): void {
  process.kill(process.pid, 'SIGKILL');
}

const running = new Map<number, RunningStatement>();

function send(message: FromUserSqlProcess): void {
  process.send?.(message);
}

async function open(message: Extract<ToUserSqlProcess, { type: 'open' }>): Promise<[Engine, PartList]> {
  const engine = await Engine.open(message.directory, USER_SQL_CONFIG);
  for (const definition of message.tables.definitions) await engine.query(definition);
  // Not before: at a low priority a start, under a second of work, took a minute beside two trainings.
  await lowerPriority(NICENESS);
  return [engine, new PartList(engine, message.tables.disks)];
}

async function run(
  id: number,
  { sql, context, options, parts }: UserStatement,
  opened: Promise<[Engine, PartList]>,
): Promise<void> {
  try {
    const [engine, list] = await opened;
    if (parts !== null) await list.show(parts);
    const statement = engine.run(sql, context, options);
    running.set(id, statement);
    send({ type: 'started', id });
    send({ type: 'result', id, result: await statement.result });
  } catch (error) {
    if (error instanceof StalePartsError) send({ type: 'stale', id });
    else send({ type: 'failed', id, message: error instanceof Error ? error.message : String(error) });
  } finally {
    running.delete(id);
  }
}

let opened: Promise<[Engine, PartList]> | null = null;
process.on('message', (message: ToUserSqlProcess) => {
  if (message.type === 'open') opened = open(message);
  else if (message.type === 'cancel') void running.get(message.id)?.cancel();
  else if (opened !== null) void run(message.id, message.statement, opened);
});
process.once('disconnect', end);
