import { Command } from '@commander-js/extra-typings';
import { apiCommand } from './commands/api.js';
import { backendCommand } from './commands/backend.js';
import { collectCommand } from './commands/collect.js';
import { deadlettersCommand } from './commands/deadletters.js';
import { doctorCommand } from './commands/doctor.js';
import { exportCommand } from './commands/export.js';
import { importCommand } from './commands/import.js';
import { rebuildCommand } from './commands/rebuild.js';
import { evaluateCommand } from './commands/evaluate.js';
import { recipesCommand } from './commands/recipes.js';
import { replayCommand } from './commands/replay.js';
import { retainCommand } from './commands/retain.js';
import { runsCommand } from './commands/runs.js';
import { savePolicyCommand } from './commands/save-policy.js';
import { scoreCommand } from './commands/score.js';
import { sinkCommand } from './commands/sink.js';
import { sqlCommand } from './commands/sql.js';
import { storeCommand } from './commands/store.js';
import { trainCommand } from './commands/train.js';
import { upCommand } from './commands/up.js';
import { verifyCommand } from './commands/verify.js';
import { readVersion } from './installation.js';

/** The whole command line. Commands load what they need when they run, so that help costs nothing. */
export function createProgram() {
  return new Command('retrace')
    .description('Event-sourced trajectory store and off-policy-aware trainer for LLM agents')
    .version(readVersion())
    .showHelpAfterError('(see --help)')
    .addCommand(upCommand())
    .addCommand(trainCommand())
    .addCommand(collectCommand())
    .addCommand(sinkCommand())
    .addCommand(apiCommand())
    .addCommand(sqlCommand())
    .addCommand(verifyCommand())
    .addCommand(exportCommand())
    .addCommand(importCommand())
    .addCommand(rebuildCommand())
    .addCommand(deadlettersCommand())
    .addCommand(runsCommand())
    .addCommand(retainCommand())
    .addCommand(replayCommand())
    .addCommand(scoreCommand())
    .addCommand(evaluateCommand())
    .addCommand(savePolicyCommand())
    .addCommand(recipesCommand())
    .addCommand(backendCommand())
    .addCommand(storeCommand())
    .addCommand(doctorCommand());
}
