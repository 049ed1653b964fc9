import { PathId } from '../http/query-decorators.js';

/** Path parameters of two runs that are compared. */
export class RunPairParams {
  @PathId('Id of the first run', 'latest')
  readonly runId!: string;

  @PathId('Id of the second run')
  readonly otherRunId!: string;
}

/** Path parameters of everything below a run. */
export class RunParams {
  @PathId('Id of the run', 'latest')
  readonly runId!: string;
}
