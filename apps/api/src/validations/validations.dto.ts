import { ApiProperty } from '@nestjs/swagger';
import { SPLITS } from '../runs/splits.js';
import { QueryBoolean, QueryWord } from '../http/query-decorators.js';
import {
  ApiInteger,
  ApiNullableNumber,
  ApiNullableText,
  ApiNumber,
  ApiTime,
  ApiWord,
} from '../http/properties.js';
import { PageQuery } from '../paging/page.js';
import { OutcomeFiguresDto } from '../plays/outcome-figures.dto.js';

export const DECODINGS = ['greedy', 'sampled'] as const;

export class ValidationsQuery extends PageQuery {
  @QueryWord(SPLITS, 'Only figures on tasks of this split')
  readonly split?: (typeof SPLITS)[number];

  @QueryBoolean('Whether figures of single families of tasks are listed too; by default they are')
  readonly families: boolean = true;
}

export class ValidationPass {
  @ApiInteger()
  readonly k!: number;

  @ApiNumber('Chance that one of k attempts succeeds (Chen et al. 2021), mean over tasks')
  readonly pass!: number;
}

export class ValidationFigures extends OutcomeFiguresDto {
  @ApiInteger()
  readonly policyVersion!: number;

  @ApiInteger('Update that made the version')
  readonly updateNumber!: number;

  @ApiWord(SPLITS)
  readonly split!: (typeof SPLITS)[number];

  @ApiWord(DECODINGS, 'One episode of each task with the likeliest tokens, or several sampled ones')
  readonly decoding!: (typeof DECODINGS)[number];

  @ApiNullableText('Family of the tasks; null = all families')
  readonly family!: string | null;

  @ApiInteger('Episodes in which environment, agent or model failed; part of no other figure')
  readonly numFailed!: number;

  @ApiNullableNumber()
  readonly success!: number | null;

  @ApiProperty({ type: [ValidationPass] })
  readonly passAtK!: readonly ValidationPass[];

  @ApiNumber('Seconds that the episodes of the whole validation took')
  readonly seconds!: number;

  @ApiTime()
  readonly validatedAt!: string;
}
