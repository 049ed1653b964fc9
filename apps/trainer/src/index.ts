export { Trainer, type TrainerOptions } from './trainer.js';
export { computeUpdate, type UpdateInputs, type UpdateResult } from './compute-update.js';
export { PolicyState, type PolicyStateOptions, type StateFiles } from './policy-state.js';
export { TrainerError, type TrainerErrorCode } from './trainer-error.js';
