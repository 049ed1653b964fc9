/** The validator as a process: `node apps/collector/dist/validator-main.js`, configured by its environment. */
import { readValidatorConfig, runProcess } from '@retrace/process';
import { runValidator } from './run-validator.js';

await runProcess(process.env, (supervised) => runValidator(readValidatorConfig(process.env), supervised));
