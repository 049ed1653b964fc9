import { ApiProperty } from '@nestjs/swagger';
import { ApiInteger } from '../openapi/properties.js';

export class StartedRun {
  @ApiProperty({ type: String, format: 'uuid' })
  readonly runId!: string;
}

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
