import { hash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { uuidV7, type Sender } from '@retrace/client';
import { isUuid } from '../episode/is-uuid.js';

const FILE = 'id';

/** The runs that calls are recorded in, by name: a name always is the same run in one state directory. */
export class RunNames {
  private readonly started = new Set<string>();

  private constructor(
    private readonly stateId: string,
    private readonly sender: Sender,
  ) {}

  static async open(directory: string, sender: Sender): Promise<RunNames> {
    const path = join(directory, FILE);
    await writeFile(path, `${uuidV7()}\n`, { flag: 'wx', mode: 0o600 }).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    });
    return new RunNames((await readFile(path, 'utf8')).trim(), sender);
  }

  /** The run's id. Starts the run, unless it is named by the id of one that somebody else has started. */
  idOf(name: string): string {
    if (isUuid(name)) return name;
    const id = makeUuid(`proxy-run/${this.stateId}/${name}`);
    if (!this.started.has(id)) {
      this.started.add(id);
      this.sender.enqueue({ kind: 'start', run: id, content: { id, name } });
    }
    return id;
  }
}

/** Returns a UUID of version 8 (RFC 9562, 5.8) that is always the same for the same text. */
function makeUuid(text: string): string {
  const hex = hash('sha256', text, 'hex');
  const variant = (0b1000 | (Number.parseInt(hex[16], 16) & 0b11)).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
