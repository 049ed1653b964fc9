import { parseRecipe, readRoleConfig, runRole, superviseThisProcess } from '@retrace/config';
import { getEnvironment } from '@retrace/environments';
import { CheckpointFiles, createTokenizer, openBackend } from '@retrace/policy';
import { ControlTail } from '@retrace/trajectory/control-tail';
import { openLmdbLog } from '@retrace/trajectory/lmdb';
import { Collector } from './collector.js';

/** The collector as a process: `node apps/collector/dist/main.js`, configured by its environment. */
async function main(): Promise<void> {
  const config = readRoleConfig(process.env);
  if (config.runId === undefined) throw new Error('RETRACE_RUN_ID: missing; the collector works for one run');
  const supervised = superviseThisProcess();
  const backend = await openBackend(config.backend ? { prefer: [config.backend] } : {});
  const log = await openLmdbLog({ path: config.logDirectory, createdBy: 'collector' });
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
    signal: supervised.signal,
    onProgress: (detail) => {
      supervised.send({ type: 'progress', detail });
    },
  });
  await collector.run();
  control.close();
  await log.close();
}

await runRole(main);
