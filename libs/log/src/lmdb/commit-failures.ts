/** Lines of the driver's own files in a stack. */
const DRIVER_FRAME = /[\\/]lmdb[\\/](write|dist[\\/]index)\.c?js/;

let isDriverSilent = false;

/**
 * Says on standard error once that commits fail, while they do, and once that they succeed again. The driver would print each failed commit with its
 * stack. A command that gives up at the first failure reports that itself, so only the second failure is reported here.
 */
export class CommitFailures {
  private numFailures = 0;

  constructor(private readonly path: string) {
    silenceDriver();
  }

  failed({ message }: Error): void {
    this.numFailures += 1;
    if (this.numFailures === 2) console.warn(message);
  }

  succeeded(): void {
    if (this.numFailures > 1) console.warn(`the event log at ${this.path} takes records again`);
    this.numFailures = 0;
  }
}

/** Leaves out what the driver prints of a commit that failed, which also rejects the append with the same reason. */
function silenceDriver(): void {
  if (isDriverSilent) return;
  isDriverSilent = true;
  const print = console.error;
  console.error = (...parts: unknown[]) => {
    if (parts.length === 1 && isCommitError(parts[0])) return;
    print.apply(console, parts);
  };
}

function isCommitError(part: unknown): boolean {
  return (
    part instanceof Error &&
    'code' in part &&
    typeof part.code === 'number' &&
    DRIVER_FRAME.test(part.stack ?? '')
  );
}
