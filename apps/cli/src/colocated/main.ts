/** Trainer and collector as one process: `node apps/cli/dist/colocated/main.js`, configured by its environment. */
import { runProcess } from '@retrace/process';
import { runColocated } from './run-colocated.js';

await runProcess(process.env, (supervised) => runColocated(process.env, supervised));
