import type { ControlFold } from '@retrace/trajectory';
import type { EventLog } from '@retrace/log';
import { ControlTail } from '@retrace/log';

/** Folds all control events that are committed now. */
export async function readControlState(log: EventLog): Promise<ControlFold> {
  const control = new ControlTail(log);
  await control.catchUp();
  control.close();
  return control.state;
}
