import { describe } from 'vitest';
import { describeAppendAndRead } from './contract/append-and-read.contract.js';
import { useContractContext, type EventLogHarness } from './contract/context.contract.js';
import { describeCursorsAndClose } from './contract/cursors-and-close.contract.js';
import { describeFollow } from './contract/follow.contract.js';
import { describeProcesses } from './contract/processes.contract.js';

export { bundleForChild, type ChildModule } from './contract/child-module.contract.js';
export type { EventLogHarness } from './contract/context.contract.js';
export { serveContractProcess } from './contract/process-main.contract.js';

/** Tests that an adapter does what the `EventLog` port asks of it, across real processes. */
export function describeEventLog(harness: EventLogHarness): void {
  describe(`${harness.adapter} as an event log`, () => {
    const context = useContractContext(harness);
    describeAppendAndRead(context);
    describeProcesses(context);
    describeFollow(context);
    describeCursorsAndClose(context);
  });
}
