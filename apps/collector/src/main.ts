import { parseRecipe, readRoleConfig, runRole, superviseThisProcess } from '@retrace/config';
import { getEnvironment } from '@retrace/environments';
import { CheckpointFiles, createTokenizer, openBackend } from '@retrace/policy';
import { ControlTail } from '@retrace/trajectory/control-tail';
import { holdRole, openLog } from '@retrace/trajectory/log';
import { Collector } from './collector.js';

/** The collector as a process: `node apps/collector/dist/main.js`, configured by its environment. */
async function main(): Promise<void> {
  const config = readRoleConfig(process.env);
  if (config.runId === undefined) throw new Error('RETRACE_RUN_ID: missing; the collector works for one run');
  const supervised = superviseThisProcess();
  const backend = await openBackend(config.backend ? { prefer: [config.backend] } : {});
  const log = await openLog(config.log, 'collector');
  // Episodes of a run are numbered by its one collector.
  const role = await holdRole(config.log, `collector-${config.runId}`);
  const control = new ControlTail(log);
  await control.catchUp();
  const recipe = parseRecipe(control.run(config.runId).started.recipe);
  const tokenizer = createTokenizer(recipe.context.tokenizer, getEnvironment(recipe.environment).words);
  supervised.send({ type: 'ready', detail: backend.reason });
  const collector = new Collector({
    runId: config.runId,
    recipe,
    log,
    control,
    checkpoints: new CheckpointFiles(config.checkpointDirectory),
    tokenizer,
    engine: `retrace ${backend.name}`,
    signal: AbortSignal.any([supervised.signal, role.lost]),
    onProgress: (detail) => {
      supervised.send({ type: 'progress', detail });
    },
  });
  await collector.run();
  if (role.lost.aborted) throw new Error(`another collector works for run ${config.runId} now`);
  await role.release();
  control.close();
  await log.close();
}

await runRole(main);
