import { ApiProperty } from '@nestjs/swagger';
import { WARNING_SOURCES } from '@retrace/trajectory';
import { ApiInteger, ApiNullableInteger, ApiText, ApiTime, ApiWord } from '../http/properties.js';

export const WARNING_SEVERITIES = ['warning', 'alarm'] as const;

export class RunWarning {
  @ApiWord(WARNING_SOURCES, 'Process that warns; `system` is the supervisor')
  readonly source!: (typeof WARNING_SOURCES)[number];

  @ApiWord(WARNING_SEVERITIES, '`alarm`: the run does not do what it is for')
  readonly severity!: (typeof WARNING_SEVERITIES)[number];

  @ApiNullableInteger('Update (trainer) or round (collector) that it belongs to')
  readonly step!: number | null;

  @ApiText()
  readonly message!: string;

  @ApiInteger('How often the process had said this by then; not every repetition is listed')
  readonly numTimes!: number;

  @ApiText('Name of the monitor whose rule is broken; empty for other warnings')
  readonly rule!: string;

  @ApiText('A step to take next; empty where there is none')
  readonly advice!: string;

  @ApiProperty({ type: [String], description: 'Episodes to look at first' })
  readonly episodeIds!: readonly string[];

  @ApiTime()
  readonly raisedAt!: string;
}
