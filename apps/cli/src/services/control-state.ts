import type { ControlFold, EventLog } from '@retrace/trajectory';
import { ControlTail } from '@retrace/trajectory/control-tail';

/** Folds all control events that are committed now. */
export async function readControlState(log: EventLog): Promise<ControlFold> {
  const control = new ControlTail(log);
  await control.catchUp();
  control.close();
  return control.state;
}
