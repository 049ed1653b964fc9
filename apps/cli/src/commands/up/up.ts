import { commandEnvironment } from '../../data-directory/environment.js';
import { namesKafka } from '@retrace/process';
import { CliError } from '../../cli-error.js';
import { describeNothingLearned } from '@retrace/runs';
import { readTrainingRecipe, type TrainingOptions } from '../../run/training-recipe.js';
import { assertPortFree } from '../../server/free-port.js';
import { LOOPBACK } from '../../roles/role-definitions.js';
import { serve } from '../../server/serve.js';
import type { Train } from '@retrace/runs/queue';
import type { TrainingServer } from '../../server/training-server.js';
import { createLogStream, type LogStream } from '../../supervisor/log-stream.js';

const LAST_PORT = 65_535;

interface UpOptions extends TrainingOptions {
  readonly port: number;
  /** False: only serve. */
  readonly training: boolean;
  /** False: no address for agents. */
  readonly proxy: boolean;
}

/**
 * Starts all roles on a data directory, trains unless told not to, and keeps serving after the run has ended.
 *
 * @throws CliError `SERVICES_IN_USE` where the environment names Kafka
 */
export async function up(options: UpOptions): Promise<void> {
  if (namesKafka(commandEnvironment)) {
    throw new CliError(
      'SERVICES_IN_USE',
      'up: works only on a data directory, but RETRACE_KAFKA_BROKERS names a log on Kafka; unset it, or start "retrace sink", "train", "collect --run" and "api"',
    );
  }
  const recipe = options.training ? await readTrainingRecipe(options) : null;
  await assertPortFree(LOOPBACK, options.port);
  const log = createLogStream({ json: options.json === true, out: process.stdout });
  const say = (message: string) => {
    log.write({ role: 'retrace', level: 'info', message });
  };
  const sayWhatIsThere = async (server: TrainingServer) => {
    const apiUrl = (await server.whenListening()) ?? '';
    say(`dashboard at ${apiUrl}/live, API at ${apiUrl}/api (data in ${options.dataDir})`);
    await server.whenServing();
    say('the store is up');
    if (options.proxy) await openForAgents(server, log, options.port);
  };
  await serve({
    dataDirectory: options.dataDir,
    log,
    apiPort: options.port,
    acceptsOtherLog: options.acceptOtherLog === true,
    work: async (server, stopped) => {
      // Where it can't be, the server ends with the reason.
      sayWhatIsThere(server).catch(() => undefined);
      const { queue } = server;
      let isTraining = recipe !== null;
      const sayHowToGoOn = () => {
        say(howToGoOn(isTraining || queue.isTraining));
      };
      stopped.addEventListener('abort', sayHowToGoOn, { once: true });
      const { backend, collectors: numCollectors, nice: niceness } = options;
      const request = { backend, numCollectors, niceness };
      if (recipe !== null) {
        const summary = await queue.trainFirst(recipe, (asked, onBegun) =>
          server.train(asked, { ...request, metrics: options }, onBegun),
        );
        if (stopped.aborted) return;
        isTraining = false;
        const ending = summary.reason === 'finished' ? 'has finished' : `has ended (${summary.reason})`;
        const isWhole = summary.reason === 'finished';
        const problem = isWhole && describeNothingLearned({ runId: summary.runId, updates: summary });
        if (problem) log.write({ role: 'retrace', level: 'error', message: problem });
        say(`the run ${ending}; still serving, press Ctrl-C to stop`);
      }
      // A file of metrics is that of one run.
      const metrics = { ...options, metricsFile: undefined };
      const train: Train = (asked, onBegun) => server.train(asked, { ...request, metrics }, onBegun);
      await queue.work(train, stopped);
    },
  });
}

/** Says at which address agents are recorded, or why there is none, which is no reason to end. */
async function openForAgents(server: TrainingServer, log: LogStream, apiPort: number): Promise<void> {
  try {
    const url = await server.openAgentDoor(agentsPort(apiPort));
    if (url === null) return;
    log.write({
      role: 'retrace',
      level: 'info',
      message: `agents: set OPENAI_BASE_URL=${url}/v1, and their calls are recorded`,
    });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    log.write({ role: 'retrace', level: 'warn', message: `no address for agents: ${message}` });
  }
}

/** The first port to try for agents: 8790 beside 8787, behind those of `retrace proxy` and `retrace serve`. */
function agentsPort(apiPort: number): number {
  return apiPort === 0 ? 0 : Math.min(apiPort + 3, LAST_PORT);
}

/** @param isTraining whether a run is left unfinished */
function howToGoOn(isTraining: boolean): string {
  const command = commandEnvironment.npm_lifecycle_event === 'start' ? 'npm start' : 'retrace up';
  return isTraining
    ? `"${command}" with the same options goes on with this run`
    : `everything is stored; "${command}" shows it again`;
}
