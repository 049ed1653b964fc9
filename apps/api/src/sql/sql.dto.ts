import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsInt, IsNotEmpty, IsString, Max, MaxLength, Min } from 'class-validator';

export class SqlRequest {
  @ApiProperty({
    description: 'One SELECT over the tables of `/api/sql/schema`',
    example: 'SELECT count() FROM steps',
  })
  @IsString()
  @IsNotEmpty()
  @MaxLength(65_536)
  readonly query!: string;

  @ApiPropertyOptional({
    minimum: 1,
    maximum: 10_000,
    default: 1_000,
    description: 'Rows returned; `truncated` tells if there are more',
  })
  @IsInt()
  @Min(1)
  @Max(10_000)
  readonly maxRows: number = 1_000;
}

export class SqlColumn {
  @ApiProperty()
  readonly name!: string;

  @ApiProperty({ description: "The store's own name of the type" })
  readonly type!: string;
}

export class SqlResult {
  @ApiProperty({ type: [SqlColumn] })
  readonly columns!: readonly SqlColumn[];

  @ApiProperty({
    type: 'array',
    items: { type: 'array', items: {} },
    description: 'Integers beyond 2⁵³, NaN and infinities are text',
  })
  readonly rows!: readonly (readonly unknown[])[];

  @ApiProperty()
  readonly numRows!: number;

  @ApiProperty()
  readonly truncated!: boolean;

  @ApiProperty()
  readonly elapsedMs!: number;
}

export class SqlTable {
  @ApiProperty()
  readonly name!: string;

  @ApiProperty({ type: [SqlColumn] })
  readonly columns!: SqlColumn[];
}

export class SqlSchema {
  @ApiProperty({ type: [SqlTable] })
  readonly tables!: readonly SqlTable[];
}
