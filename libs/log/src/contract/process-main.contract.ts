import type { EventLog } from '../event-log.js';

/** The task of a child process, sent by its parent as the only message. */
export interface ProcessRequest {
  readonly location: string;
  /** First part of each record's text, `label/append/record`. */
  readonly label: string;
  /** Number of appends; 0 to open and close only, −1 to append until killed. */
  readonly numAppends: number;
  readonly recordsPerAppend: number;
}

export type ProcessReport =
  | { readonly opened: string }
  | { readonly acknowledged: number; readonly firstOffset: number }
  | { readonly closed: true };

/** Returns the text of one record that a child appends. */
export function recordText(label: string, append: number, record: number): string {
  return `${label}/${append}/${record}`;
}

/** The main function of a child process that opens the log under test and appends to trajectories 0. */
export function serveContractProcess(openLog: (location: string) => Promise<EventLog>): void {
  process.once('message', (request) => {
    void run(openLog, request as ProcessRequest).then(() => process.disconnect());
  });
}

async function run(openLog: (location: string) => Promise<EventLog>, request: ProcessRequest): Promise<void> {
  const { location, label, numAppends, recordsPerAppend } = request;
  const log = await openLog(location);
  report({ opened: log.logId });
  for (let append = 0; append !== numAppends; append += 1) {
    const records = Array.from({ length: recordsPerAppend }, (_, record) =>
      new TextEncoder().encode(recordText(label, append, record)),
    );
    const { firstOffset } = await log.append('trajectories', 0, records);
    report({ acknowledged: append, firstOffset });
  }
  await log.close();
  report({ closed: true });
}

function report(message: ProcessReport): void {
  process.send?.(message);
}
