import { Uuid } from '../http/query-decorators.js';

/** Path parameters of everything below a run. */
export class RunParams {
  @Uuid('The run')
  readonly runId!: string;
}
