import { Command } from '@commander-js/extra-typings';
import { apiCommand } from './commands/api/command.js';
import { backendCommand } from './commands/backend/command.js';
import { collectCommand } from './commands/collect/command.js';
import { deadlettersCommand } from './commands/deadletters/command.js';
import { doctorCommand } from './commands/doctor/command.js';
import { exportCommand } from './commands/export/command.js';
import { importCommand } from './commands/import/command.js';
import { rebuildCommand } from './commands/rebuild/command.js';
import { evaluateCommand } from './commands/evaluate/command.js';
import { recipesCommand } from './commands/recipes/command.js';
import { replayCommand } from './commands/replay/command.js';
import { retainCommand } from './commands/retain/command.js';
import { runsCommand } from './commands/runs/command.js';
import { savePolicyCommand } from './commands/save-policy/command.js';
import { scoreCommand } from './commands/score/command.js';
import { sinkCommand } from './commands/sink/command.js';
import { sqlCommand } from './commands/sql/command.js';
import { storeCommand } from './commands/store/command.js';
import { trainCommand } from './commands/train/command.js';
import { upCommand } from './commands/up/command.js';
import { verifyCommand } from './commands/verify/command.js';
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
