import type { ActionFormat, ActionFormatOptions } from './action-format.js';
import { AgentFormatError } from './errors.js';
import { bareFormat } from './formats/bare.js';
import { reactFormat } from './formats/react.js';

type FormatMaker = (options: ActionFormatOptions) => ActionFormat;

const FORMATS: ReadonlyMap<string, FormatMaker> = new Map<string, FormatMaker>([
  ['bare', bareFormat],
  ['react', reactFormat],
]);

/** Names of all formats. */
export function listActionFormats(): readonly string[] {
  return [...FORMATS.keys()];
}

/**
 * Makes a format, once per run.
 *
 * @throws AgentFormatError `UNKNOWN_FORMAT` for a name that is none, `INVALID_OPTION` for an option out of its range or a tool
 * whose schema is none
 */
export function actionFormat(name: string, options: ActionFormatOptions): ActionFormat {
  const make = FORMATS.get(name);
  if (make === undefined) {
    throw new AgentFormatError(
      'UNKNOWN_FORMAT',
      `Unknown action format "${name}"; known are ${listActionFormats().join(', ')}`,
    );
  }
  const { maxActions } = options;
  if (maxActions !== undefined && (!Number.isInteger(maxActions) || maxActions < 1)) {
    throw new AgentFormatError(
      'INVALID_OPTION',
      `maxActions: got ${maxActions}, must be a whole number from 1`,
    );
  }
  return make(options);
}
