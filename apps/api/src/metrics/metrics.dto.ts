import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  IsArray,
  IsString,
  Length,
  Transform,
  type TransformFnParams,
} from '@retrace/validation';
import { QueryInteger, QueryWord } from '../http/query-decorators.js';
import { ApiText, ApiWord } from '../http/properties.js';

export const METRIC_SOURCES = ['trainer', 'collector', 'sink', 'evaluation', 'system'] as const;
export type MetricSource = (typeof METRIC_SOURCES)[number];

export class MetricsQuery {
  @ApiPropertyOptional({
    type: String,
    pattern: '^[^,]{1,200}(,[^,]{1,200}){0,99}$',
    description: 'Names of metrics, separated by commas; without it, all metrics',
  })
  @Transform(({ value }: TransformFnParams) =>
    typeof value === 'string' ? value.split(',') : (value as unknown),
  )
  @IsArray()
  @ArrayMaxSize(100)
  @IsString({ each: true })
  @Length(1, 200, { each: true })
  readonly names: readonly string[] = [];

  @QueryWord(METRIC_SOURCES, 'Only metrics that this process logged')
  readonly source?: MetricSource;

  @QueryInteger({
    min: 2,
    max: 10_000,
    default: 1_000,
    description:
      'Maximum number of points in a series; a longer series is cut into this many equal stretches, and each point is the mean of one',
  })
  readonly maxPoints: number = 1_000;
}

class MetricSeries {
  @ApiText()
  readonly name!: string;

  @ApiWord(METRIC_SOURCES)
  readonly source!: MetricSource;

  @ApiProperty({
    type: 'array',
    items: { type: 'integer' },
    description: 'Ascending: update, round or policy version, depending on the source',
  })
  readonly steps!: readonly number[];

  @ApiProperty({
    type: 'array',
    items: { type: 'number' },
    description: 'Finite values, one for each step; steps without a value are left out',
  })
  readonly values!: readonly number[];

  @ApiProperty({
    type: 'array',
    items: { type: 'integer' },
    description: 'Milliseconds since the Unix epoch, one for each step',
  })
  readonly times!: readonly number[];
}

export class MetricSeriesList {
  @ApiProperty({ type: [MetricSeries] })
  readonly series!: readonly MetricSeries[];
}
