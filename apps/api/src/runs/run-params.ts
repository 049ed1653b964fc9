import { Uuid } from '../http/query-decorators.js';

/** Path parameters of everything below a run. */
export class RunParams {
  @Uuid('Id of the run')
  readonly runId!: string;
}
