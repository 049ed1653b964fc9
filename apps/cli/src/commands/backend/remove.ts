import { parseTensorflowVersion, removeBackend } from '@retrace/compute';
import type { CommonOptions } from '../../options.js';

interface RemoveOptions extends CommonOptions {
  readonly tensorflow?: string;
}

/** Removes installed backends, all or those of one TensorFlow version, and prints which. */
export async function remove({ tensorflow, json }: RemoveOptions): Promise<void> {
  const removed = await removeBackend(
    tensorflow === undefined ? {} : { version: parseTensorflowVersion(tensorflow, '--tensorflow') },
  );
  if (json === true) console.log(JSON.stringify({ removed }));
  else console.log(removed.length === 0 ? 'Nothing was installed.' : `Removed ${removed.join(', ')}.`);
}
