/** The trainer as a process: `node apps/trainer/dist/main.js`, configured by its environment. */
import { readTrainerConfig, runProcess } from '@retrace/process';
import { runTrainer } from './run-trainer.js';

await runProcess(process.env, async (supervised) => {
  await runTrainer(readTrainerConfig(process.env), supervised, process.env);
});
