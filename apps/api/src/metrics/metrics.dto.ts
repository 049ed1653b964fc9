import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Transform, type TransformFnParams } from 'class-transformer';
import { ArrayMaxSize, IsArray, IsString, Length } from 'class-validator';
import { QueryInteger, QueryWord } from '../http/query-decorators.js';

const SOURCES = ['trainer', 'collector', 'sink', 'evaluation', 'system'];

export class MetricsQuery {
  @ApiPropertyOptional({ type: String, description: 'Names separated by commas; all metrics when left out' })
  @Transform(({ value }: TransformFnParams) =>
    typeof value === 'string' ? value.split(',') : (value as unknown),
  )
  @IsArray()
  @ArrayMaxSize(100)
  @IsString({ each: true })
  @Length(1, 200, { each: true })
  readonly names: readonly string[] = [];

  @QueryWord(SOURCES, 'Who logged them; everyone when left out')
  readonly source?: string;

  @QueryInteger({
    min: 2,
    max: 10_000,
    default: 1_000,
    description:
      'Most points of a series; a longer one is cut into as many equal stretches, each shown by its mean',
  })
  readonly maxPoints: number = 1_000;
}

export class MetricSeries {
  @ApiProperty()
  readonly name!: string;

  @ApiProperty()
  readonly source!: string;

  @ApiProperty({ type: [Number], description: 'Ascending: update, round or policy version, by source' })
  readonly steps!: readonly number[];

  @ApiProperty({ type: [Number], description: 'Finite; steps without a value are left out' })
  readonly values!: readonly number[];

  @ApiProperty({ type: [Number], description: 'Milliseconds since the Unix epoch' })
  readonly times!: readonly number[];
}

export class MetricSeriesList {
  @ApiProperty({ type: [MetricSeries] })
  readonly series!: readonly MetricSeries[];
}
