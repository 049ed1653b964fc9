export { hasBaselines, recordBaselines, type MeasuredBaselines } from '../baselines/record-baselines.js';
export { beginRun, type BegunRun, type BeginRunOptions } from './begin-run.js';
export { checkRecipe } from './check-recipe.js';
export { chooseRun } from './choose-run.js';
export type { DataSession } from './complete-data.js';
export { assignmentOfPolicy } from './complete-init.js';
export { onlySource, recipeOfSource, runOfSource } from './stored-source.js';
