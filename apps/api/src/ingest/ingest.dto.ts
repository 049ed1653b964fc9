import { ApiProperty } from '@nestjs/swagger';
import { ApiInteger } from '../http/properties.js';

export class StartedRun {
  @ApiProperty({ type: String, format: 'uuid' })
  readonly runId!: string;
}

export class AnnotatedRun extends StartedRun {}

export class EndedRun {
  @ApiInteger('Groups that were closed now')
  readonly closedGroups!: number;
}

export class AppendedRecords {
  @ApiInteger('Records of the request, all of which are in the log')
  readonly accepted!: number;

  @ApiInteger('Those of them that were there before')
  readonly duplicates!: number;
}

export class OutsidePolicy {
  @ApiInteger('Its number in the run')
  readonly policyVersion!: number;
}

export class OutsideUpdate extends OutsidePolicy {
  @ApiProperty({ type: String, format: 'uuid', description: 'Names it in the log: the id of the request' })
  readonly planId!: string;

  @ApiInteger('Its number in the run')
  readonly updateNumber!: number;
}
