/** Codes of the exceptions that this server raises; those of the engine include their number. */
const CODE_OF_NAME = {
  UNSUPPORTED_METHOD: 1,
  BAD_ARGUMENTS: 36,
  CHECKSUM_DOESNT_MATCH: 40,
  SYNTAX_ERROR: 62,
  CANNOT_WRITE_TO_FILE_DESCRIPTOR: 75,
  TIMEOUT_EXCEEDED: 159,
  READONLY: 164,
  TOO_MANY_SIMULTANEOUS_QUERIES: 202,
  QUERY_IS_TOO_LARGE: 229,
  ABORTED: 236,
  NOT_ENOUGH_SPACE: 243,
  CANNOT_DECOMPRESS: 271,
  INTO_OUTFILE_NOT_ALLOWED: 358,
  ACCESS_DENIED: 497,
  AUTHENTICATION_FAILED: 516,
  UNSUPPORTED_MEDIA_TYPE: 779,
  UNKNOWN_EXCEPTION: 1002,
} as const;

export type OwnExceptionName = keyof typeof CODE_OF_NAME;

/** HTTP statuses of a ClickHouse server; every other exception is a 500. */
const NAMES_OF_HTTP_STATUS: Readonly<Record<number, readonly string[]>> = {
  400: [
    'BAD_ARGUMENTS',
    'CANNOT_COMPILE_REGEXP',
    'CANNOT_DECOMPRESS',
    'CANNOT_PARSE_DATE',
    'CANNOT_PARSE_DATETIME',
    'CANNOT_PARSE_DOMAIN_VALUE_FROM_STRING',
    'CANNOT_PARSE_ESCAPE_SEQUENCE',
    'CANNOT_PARSE_INPUT_ASSERTION_FAILED',
    'CANNOT_PARSE_IPV4',
    'CANNOT_PARSE_IPV6',
    'CANNOT_PARSE_NUMBER',
    'CANNOT_PARSE_QUOTED_STRING',
    'CANNOT_PARSE_TEXT',
    'CANNOT_PARSE_UUID',
    'DUPLICATE_COLUMN',
    'ILLEGAL_COLUMN',
    'INCORRECT_DATA',
    'SYNTAX_ERROR',
    'THERE_IS_NO_COLUMN',
    'TOO_BIG_AST',
    'TOO_DEEP_AST',
    'TYPE_MISMATCH',
    'UNEXPECTED_AST_STRUCTURE',
    'UNKNOWN_ELEMENT_IN_AST',
    'UNKNOWN_TYPE_OF_AST_NODE',
    'VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE',
  ],
  401: ['REQUIRED_PASSWORD'],
  403: ['ACCESS_DENIED', 'AUTHENTICATION_FAILED', 'SET_NON_GRANTED_ROLE', 'UNKNOWN_USER', 'WRONG_PASSWORD'],
  404: [
    'UNKNOWN_AGGREGATE_FUNCTION',
    'UNKNOWN_DATABASE',
    'UNKNOWN_DATABASE_ENGINE',
    'UNKNOWN_DIRECTION_OF_SORTING',
    'UNKNOWN_FORMAT',
    'UNKNOWN_FUNCTION',
    'UNKNOWN_IDENTIFIER',
    'UNKNOWN_ROLE',
    'UNKNOWN_SETTING',
    'UNKNOWN_STORAGE',
    'UNKNOWN_TABLE',
    'UNKNOWN_TYPE',
    'UNKNOWN_TYPE_OF_QUERY',
  ],
  408: ['TIMEOUT_EXCEEDED'],
  411: ['HTTP_LENGTH_REQUIRED'],
  413: ['QUERY_IS_TOO_LARGE'],
  415: ['UNSUPPORTED_MEDIA_TYPE'],
  501: ['NOT_IMPLEMENTED'],
  503: ['ABORTED', 'CANNOT_OPEN_FILE', 'CANNOT_SCHEDULE_TASK', 'SOCKET_TIMEOUT'],
};

const HTTP_STATUS_OF_NAME: ReadonlyMap<string, number> = new Map(
  Object.entries(NAMES_OF_HTTP_STATUS).flatMap(([status, names]) =>
    names.map((name): [string, number] => [name, Number(status)]),
  ),
);

/** A failure in ClickHouse's form: `Code: 60. DB::Exception: … (UNKNOWN_TABLE)`. */
export class ClickHouseException extends Error {
  private constructor(
    readonly exceptionCode: number,
    readonly exceptionName: string,
    message: string,
    cause?: unknown,
  ) {
    super(message, { cause });
    this.name = 'ClickHouseException';
  }

  /** Creates an exception of this server. */
  static of(name: OwnExceptionName, text: string, options?: { cause?: unknown }): ClickHouseException {
    const code = CODE_OF_NAME[name];
    return new ClickHouseException(
      code,
      name,
      `Code: ${code}. DB::Exception: ${text}. (${name})`,
      options?.cause,
    );
  }

  /**
   * Converts an exception of the engine. A text that passed several layers repeats itself; only the innermost is kept.
   *
   * @param hidden texts that are removed
   */
  static fromEngine(error: unknown, hidden: readonly string[] = []): ClickHouseException {
    const full = error instanceof Error ? error.message : String(error);
    const text = hidden.reduce((rest, part) => rest.replaceAll(part, ''), full);
    const innermost = /.*(Code: \d+\. DB::Exception: .*)/s.exec(text)?.[1] ?? text;
    const code = /^Code: (\d+)\./.exec(innermost)?.[1];
    if (code === undefined) {
      return ClickHouseException.of('UNKNOWN_EXCEPTION', text, { cause: error });
    }
    const firstName = /^.*?\(([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|READONLY|ABORTED)\)/s.exec(innermost);
    return new ClickHouseException(
      Number(code),
      firstName?.[1] ?? 'UNKNOWN_EXCEPTION',
      firstName?.[0] ?? innermost.trimEnd(),
      error,
    );
  }

  get httpStatus(): number {
    return HTTP_STATUS_OF_NAME.get(this.exceptionName) ?? 500;
  }
}
