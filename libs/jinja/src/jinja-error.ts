/** `SYNTAX`: the text is no template; `RENDER`: it fails on the values; `LIMIT`: it takes more steps or space than it may. */
export type JinjaErrorCode = 'SYNTAX' | 'RENDER' | 'LIMIT';

export class JinjaError extends Error {
  constructor(
    readonly code: JinjaErrorCode,
    message: string,
  ) {
    super(message);
    this.name = 'JinjaError';
  }
}

/** Fails as Python does, with the name of its exception. */
export function fail(kind: string, message: string): never {
  throw new JinjaError('RENDER', `${kind}: ${message}`);
}
