import type { RunControlAnswer, RunControlRequest } from '@retrace/process';

/** Who starts and stops the processes of runs, if anyone does: the supervisor of this process. */
export class RunControl {
  /** @param ask null where nobody does, as in an API that is a process of its own */
  constructor(readonly ask: ((request: RunControlRequest) => Promise<RunControlAnswer>) | null = null) {}
}
