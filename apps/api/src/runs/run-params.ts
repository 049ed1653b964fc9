import { Uuid } from '../http/query-decorators.js';

/** Path parameters of two runs that are compared. */
export class RunPairParams {
  @Uuid('Id of the first run')
  readonly runId!: string;

  @Uuid('Id of the second run')
  readonly otherRunId!: string;
}

/** Path parameters of everything below a run. */
export class RunParams {
  @Uuid('Id of the run')
  readonly runId!: string;
}
