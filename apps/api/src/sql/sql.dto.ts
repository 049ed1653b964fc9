import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { Json } from '@retrace/trajectory';
import { IsInt, IsNotEmpty, IsString, Max, MaxLength, Min } from '@retrace/validation';
import { ApiJsonRows } from '../http/any-json.js';
import { ApiBoolean, ApiInteger, ApiText } from '../http/properties.js';

const MAX_QUERY_LENGTH = 65_536;
const MAX_ROWS = 1_000_000;
/** Rows of JSON are made one by one, in the process that also serves the pages. */
export const MAX_JSON_ROWS = 10_000;
const MAX_ROWS_RULE = { message: `maxRows must be an integer from 1 to ${MAX_ROWS}, got $value` };

/** Media type of rows in Arrow's streaming format. */
export const ARROW_STREAM = 'application/vnd.apache.arrow.stream';

export class ExplainRequest {
  @ApiProperty({
    type: String,
    minLength: 1,
    maxLength: MAX_QUERY_LENGTH,
    description: 'One SELECT over the tables of `/api/sql/schema`',
    example: 'SELECT count() FROM steps',
  })
  @IsString({ message: 'query must be text' })
  @IsNotEmpty({ message: 'query must not be empty' })
  @MaxLength(MAX_QUERY_LENGTH, { message: `query must have at most ${MAX_QUERY_LENGTH} characters` })
  readonly query!: string;
}

export class SqlRequest extends ExplainRequest {
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: MAX_ROWS,
    default: 1_000,
    description:
      `Row limit; \`truncated\` tells whether the result has more rows. At most ${MAX_JSON_ROWS} for JSON. An Arrow stream ` +
      'does not tell: ask for one row more than you need',
  })
  @IsInt(MAX_ROWS_RULE)
  @Min(1, MAX_ROWS_RULE)
  @Max(MAX_ROWS, MAX_ROWS_RULE)
  readonly maxRows: number = 1_000;
}

export class SqlColumn {
  @ApiText()
  readonly name!: string;

  @ApiProperty({ type: String, description: 'ClickHouse type', example: 'Array(Int32)' })
  readonly type!: string;
}

export class SqlResult {
  @ApiProperty({ type: [SqlColumn] })
  readonly columns!: readonly SqlColumn[];

  @ApiJsonRows('Rows of values; integers beyond 2⁵³, NaN and infinities are text')
  readonly rows!: readonly (readonly Json[])[];

  @ApiInteger()
  readonly numRows!: number;

  @ApiBoolean('The result has more rows than `maxRows`')
  readonly truncated!: boolean;

  @ApiInteger()
  readonly elapsedMs!: number;
}

export class SqlTable {
  @ApiText()
  readonly name!: string;

  @ApiProperty({ type: [SqlColumn] })
  readonly columns!: SqlColumn[];
}

export class SqlSchema {
  @ApiProperty({ type: [SqlTable] })
  readonly tables!: readonly SqlTable[];
}
