import { readFileSync } from 'node:fs';

/** Version of this package, which all of Retrace shares. */
export const VERSION = (
  JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    readonly version: string;
  }
).version;
