import { ApiProperty } from '@nestjs/swagger';
import { ApiInteger, ApiNullableInteger, ApiText, ApiTime, ApiWord } from '../http/properties.js';

export const WARNING_SOURCES = [
  'trainer',
  'collector',
  'validator',
  'sink',
  'api',
  'store',
  'system',
] as const;
export const WARNING_SEVERITIES = ['warning', 'alarm'] as const;

/** One alarm of one run, however often it was raised, or that a run failed. */
export class AlarmItem {
  @ApiText('Empty for a process of no run')
  readonly runId!: string;

  @ApiText('Empty for a process of no run')
  readonly runName!: string;

  @ApiWord(WARNING_SOURCES, 'Process that raised it; `system` is the supervisor')
  readonly source!: (typeof WARNING_SOURCES)[number];

  @ApiText(
    'Name of the monitor whose rule is broken, or `runFailed`; empty for other alarms, which are told apart by their message without its numbers',
  )
  readonly rule!: string;

  @ApiText('As it was raised last, like step, advice and episodes')
  readonly message!: string;

  @ApiNullableInteger('Update (trainer) or round (collector) that it belongs to')
  readonly step!: number | null;

  @ApiText('A step to take next; empty where there is none')
  readonly advice!: string;

  @ApiProperty({ type: [String], description: 'Episodes to look at first' })
  readonly episodeIds!: readonly string[];

  @ApiInteger('How often one process has raised it, at most; a process that starts again counts from 1')
  readonly numTimes!: number;

  @ApiTime()
  readonly firstRaisedAt!: string;

  @ApiTime()
  readonly lastRaisedAt!: string;
}

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
