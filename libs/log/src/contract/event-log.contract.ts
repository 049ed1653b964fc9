import { describe } from 'vitest';
import { describeAppendAndRead } from './append-and-read.contract.js';
import { useContractContext, type EventLogHarness } from './context.contract.js';
import { describeCursorsAndClose } from './cursors-and-close.contract.js';
import { describeFollow } from './follow.contract.js';
import { describeProcesses } from './processes.contract.js';

export { bundleForChild, type ChildModule } from './child-module.contract.js';
export type { EventLogHarness } from './context.contract.js';
export { serveContractProcess } from './process-main.contract.js';

/** Tests the duties of the `EventLog` port on an adapter, across real processes. */
export function describeEventLog(harness: EventLogHarness): void {
  describe(`${harness.adapter} as an event log`, () => {
    const context = useContractContext(harness);
    describeAppendAndRead(context);
    describeProcesses(context);
    describeFollow(context);
    describeCursorsAndClose(context);
  });
}
