import { once } from 'node:events';
import { existsSync } from 'node:fs';
import type { LogprobsMode } from '@retrace/chat';
import { openBackend } from '@retrace/compute';
import { openLog } from '@retrace/log';
import type { BackendChoice } from '@retrace/process';
import { openDirectorySupply, openRunSupply, startServer, type PolicySupply } from '@retrace/gateway/serve';
import { CliError } from '../../cli-error.js';
import { CREATED_BY, readVersion } from '../../installation.js';
import type { CommonOptions } from '../../options.js';
import { findPolicy, PUBLISHING } from '@retrace/runs';
import { findRun } from '../../run/find-run.js';
import { sayChosenRun } from '../../run/said-runs.js';
import { listenForStop } from '../../server/stop-requests.js';
import { dataDirectoryAt, locateKeys, locateLog } from '../../data-directory/environment.js';
import { readServices } from '../../services/services.js';
import { createLogStream } from '../../supervisor/log-stream.js';
import { openCheckpoints } from '../../services/checkpoints.js';

interface ServeOptions extends CommonOptions {
  readonly run: string;
  readonly policyVersion: number | 'latest';
  readonly model?: string;
  readonly name?: string;
  readonly host: string;
  readonly port: number;
  readonly allowedHosts: readonly string[];
  readonly concurrency: number;
  readonly maxQueued: number;
  readonly contextLength?: number;
  readonly logprobsMode: LogprobsMode;
  readonly backend?: BackendChoice;
}

const FORCED_EXIT_CODE = 130;
const MAX_BODY_BYTES = 32 * 1024 ** 2;

/** Serves a policy until asked to stop. */
export async function servePolicy(options: ServeOptions): Promise<void> {
  const log = createLogStream({ json: options.json === true, out: process.stdout });
  const stop = listenForStop(log, () => process.exit(FORCED_EXIT_CODE));
  const write = (level: 'info' | 'warn', message: string) => {
    log.write({ role: 'serve', level, message });
  };
  const warn = (message: string) => {
    write('warn', message);
  };
  const backend = await openBackend(options.backend === undefined ? {} : { prefer: [options.backend] });
  const directory = readServices(options.dataDir)?.directory ?? dataDirectoryAt(options.dataDir);
  const opened =
    options.model === undefined
      ? await openPolicyOfRun(options, warn)
      : { supply: await openDirectorySupply(options.model, options.name), close: () => Promise.resolve() };
  const { supply } = opened;
  const server = await startServer(
    {
      host: options.host,
      port: options.port,
      allowedHosts: options.allowedHosts,
      keyDirectory: locateKeys(directory),
      concurrency: options.concurrency,
      maxQueued: options.maxQueued,
      contextLength: options.contextLength ?? null,
      maxBodyBytes: MAX_BODY_BYTES,
      logprobsMode: options.logprobsMode,
    },
    supply,
    { version: readVersion(), warn },
  );
  const version =
    supply.policyVersion === null ? '' : `, policy ${supply.policyVersion} of run ${supply.runId}`;
  write(
    'info',
    `serving "${supply.name}"${version} at ${server.url}/v1, ${server.contextLength} tokens of context, on ${backend.name}`,
  );
  if (!stop.signal.aborted) await once(stop.signal, 'abort');
  await server.close();
  await opened.close();
  stop.dispose();
}

interface OpenedPolicy {
  readonly supply: PolicySupply;
  /** Closes what the supply reads from. */
  readonly close: () => Promise<void>;
}

/** Opens the log only, which other processes may write at the same time. */
async function openPolicyOfRun(
  { dataDir, run: wanted, policyVersion, name }: ServeOptions,
  warn: (message: string) => void,
): Promise<OpenedPolicy> {
  const services = readServices(dataDir);
  const directory = services?.directory ?? dataDirectoryAt(dataDir);
  if (services === null && !existsSync(directory.log)) {
    throw new CliError(
      'DATA_DIRECTORY_UNUSABLE',
      `data directory ${dataDir}: holds no events yet; name another with --data-dir, or a model with --model`,
    );
  }
  const checkpoints = openCheckpoints(directory);
  const log = await openLog(services?.log ?? locateLog(directory), CREATED_BY);
  try {
    const run = await findRun(log, wanted, PUBLISHING);
    await findPolicy(run, `${policyVersion}`, { log, checkpoints, onChosen: sayChosenRun });
    const supply = await openRunSupply({
      log,
      checkpoints,
      runId: run.runId,
      name,
      policyVersion: policyVersion === 'latest' ? null : policyVersion,
      warn,
    });
    return { supply, close: () => log.close() };
  } catch (error) {
    await log.close();
    throw error;
  }
}
