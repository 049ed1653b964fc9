/** The collector as a process: `node apps/collector/dist/main.js`, configured by its environment. */
import { readCollectorConfig, runProcess } from '@retrace/process';
import { runCollector } from './run-collector.js';

await runProcess(process.env, (supervised) =>
  runCollector(readCollectorConfig(process.env), supervised, process.env),
);
