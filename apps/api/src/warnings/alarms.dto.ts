import { ApiProperty } from '@nestjs/swagger';
import { WARNING_SOURCES } from '@retrace/trajectory';
import { ApiInteger, ApiNullableInteger, ApiText, ApiTime, ApiWord } from '../http/properties.js';

export class AlarmAcknowledgementBody {
  @ApiText('What is known of the alarm, or done about it; may be empty')
  readonly note!: string;

  @ApiText('Who acknowledged it')
  readonly source!: string;

  @ApiTime()
  readonly acknowledgedAt!: string;
}

export class AlarmSilenceItem {
  @ApiText('Empty: of all runs, and of processes that belong to no run')
  readonly runId!: string;

  @ApiText('Empty in all runs')
  readonly runName!: string;

  @ApiText('Name of the monitor, or `runFailed`; empty for all alarms without a rule')
  readonly rule!: string;

  @ApiText('Why')
  readonly note!: string;

  @ApiText('Who silenced it')
  readonly source!: string;

  @ApiTime()
  readonly silencedAt!: string;

  @ApiTime('It holds before this moment')
  readonly until!: string;
}

export class AcknowledgedAlarm {
  @ApiText('Empty for a process of no run')
  readonly runId!: string;
}

export class SilencedAlarms {
  @ApiTime('When the silence ends; now, where it was ended')
  readonly until!: string;
}

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

  @ApiProperty({
    type: AlarmAcknowledgementBody,
    nullable: true,
    description: 'Of its newest occurrence; null where nobody has acknowledged that',
  })
  readonly acknowledgement!: AlarmAcknowledgementBody | null;

  @ApiProperty({
    type: AlarmSilenceItem,
    nullable: true,
    description: 'Of the silences that hold for it, the one that ends last; null for none',
  })
  readonly silence!: AlarmSilenceItem | null;
}
