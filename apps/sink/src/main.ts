/** The sink as a process, where no API hosts it: `node apps/sink/dist/main.js`, configured by its environment. */
import { readSinkConfig, runProcess } from '@retrace/process';
import { runSink } from './run-sink.js';

await runProcess(process.env, (supervised) => runSink(readSinkConfig(process.env), supervised));
