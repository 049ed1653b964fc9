import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsInt, IsString, Length, Max, Min, ValidateBy } from '@retrace/validation';
import type { QueueItem } from '@retrace/process';
import { isJsonObject } from '@retrace/trajectory';
import { IfGiven } from '../http/if-given.js';
import { Uuid } from '../http/query-decorators.js';
import { ApiBoolean, ApiNullableText, ApiText, ApiTime, ApiWord } from '../http/properties.js';

const MAX_NAME = 100;
const MAX_POLICY = 216;
const MAX_UPDATES = 10_000_000;
const MAX_SEED = 2 ** 31 - 1;
const MAX_OVERRIDES = 64;
const MAX_TEXT = 1_000;
const STATUSES = ['queued', 'running', 'stopping', 'finished', 'stopped', 'failed'] as const;

const textRule = (max: number) => ({ message: `$property must be a text of 1 to ${max} characters` });
const numberRule = (min: number, max: number) => ({
  message: `$property must be an integer from ${min} to ${max}, got $value`,
});

/** At most so many fields, each with a number, a text, true, false or null. */
function IsOverrides(): PropertyDecorator {
  const isPlain = (value: unknown) =>
    value === null ||
    typeof value === 'number' ||
    typeof value === 'boolean' ||
    (typeof value === 'string' && value.length <= MAX_TEXT);
  return ValidateBy(
    {
      name: 'isOverrides',
      validator: {
        validate: (value: unknown) => {
          if (!isJsonObject(value)) return false;
          const entries = Object.entries(value);
          return (
            entries.length <= MAX_OVERRIDES &&
            entries.every(([name, one]) => name.length <= MAX_NAME && isPlain(one))
          );
        },
      },
    },
    {
      message: `overrides must be an object of at most ${MAX_OVERRIDES} fields, each a number, a text, true, false or null`,
    },
  );
}

export class QueueParams {
  @Uuid('Id in the queue')
  readonly queueId!: string;
}

export class TrainRunRequest {
  @ApiProperty({
    ...{ type: String, minLength: 1, maxLength: MAX_NAME },
    description:
      'Name of a built-in recipe, as `GET /api/recipes` lists them, or `run:<run>` for the recipe of a trained run, which is refused where it names code, programs, servers or files of tasks of its own; with `initFrom` of the same run that is a fork of it, without its imitation',
    example: 'frozen-lake-ppo',
  })
  @IsString(textRule(MAX_NAME))
  @Length(1, MAX_NAME, textRule(MAX_NAME))
  readonly recipe!: string;

  @ApiPropertyOptional({
    ...{ type: String, minLength: 1, maxLength: MAX_NAME, example: 'grpo' },
    description: 'Algorithm that trains it instead of its own',
  })
  @IfGiven()
  @IsString(textRule(MAX_NAME))
  @Length(1, MAX_NAME, textRule(MAX_NAME))
  readonly algorithm?: string;

  @ApiPropertyOptional({
    ...{ type: 'integer', minimum: 1, maximum: MAX_UPDATES, example: 100 },
    description: 'Number of updates, instead of the recipe’s',
  })
  @IfGiven()
  @IsInt(numberRule(1, MAX_UPDATES))
  @Min(1, numberRule(1, MAX_UPDATES))
  @Max(MAX_UPDATES, numberRule(1, MAX_UPDATES))
  readonly numUpdates?: number;

  @ApiPropertyOptional({
    ...{ type: 'integer', minimum: 0, maximum: MAX_SEED, example: 7 },
    description: 'Seed, instead of the recipe’s',
  })
  @IfGiven()
  @IsInt(numberRule(0, MAX_SEED))
  @Min(0, numberRule(0, MAX_SEED))
  @Max(MAX_SEED, numberRule(0, MAX_SEED))
  readonly seed?: number;

  @ApiPropertyOptional({
    ...{ type: String, minLength: 1, maxLength: MAX_POLICY, example: 'run:latest@best' },
    description:
      'Policy of another run to start from: `run:<run>`, `run:<run>@<version>` or `run:<run>@best`',
  })
  @IfGiven()
  @IsString(textRule(MAX_POLICY))
  @Length(1, MAX_POLICY, textRule(MAX_POLICY))
  readonly initFrom?: string;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: {
      nullable: true,
      oneOf: [{ type: 'number' }, { type: 'string', maxLength: MAX_TEXT }, { type: 'boolean' }],
    },
    maxProperties: MAX_OVERRIDES,
    description:
      'Other values of fields of the recipe, by dotted path. Fields that can name code, files, programs, servers or data are refused: only the command line sets them',
    example: { 'optimizer.learningRate': 0.0003, 'collection.groupSize': 8 },
  })
  @IfGiven()
  @IsOverrides()
  readonly overrides?: Readonly<Record<string, string | number | boolean | null>>;
}

const ACTIONS = ['stop', 'resume'] as const;

export class TrainingChange {
  @ApiProperty({ type: String, enum: ACTIONS, example: 'stop' })
  @IsIn(ACTIONS, { message: 'action must be stop or resume, got $value' })
  readonly action!: (typeof ACTIONS)[number];
}

export class QueuedRun implements QueueItem {
  @ApiProperty({ type: String, format: 'uuid' })
  readonly queueId!: string;

  @ApiText('Name of its recipe')
  readonly name!: string;

  @ApiNullableText('null until the run has begun')
  readonly runId!: string | null;

  @ApiProperty({
    type: TrainRunRequest,
    nullable: true,
    description:
      'What was asked for; null for a run that is resumed, and for the one that the server was started with',
  })
  readonly start!: TrainRunRequest | null;

  @ApiWord(STATUSES)
  readonly status!: QueueItem['status'];

  @ApiText('Why it failed; else empty')
  readonly detail!: string;

  @ApiTime()
  readonly queuedAt!: string;
}

export class TrainingQueue {
  @ApiBoolean(
    'Whether this server can start and stop runs; otherwise it is a process of its own, without a supervisor',
  )
  readonly isAvailable!: boolean;

  @ApiProperty({ type: QueuedRun, nullable: true, description: 'The run that this server trains' })
  readonly running!: QueuedRun | null;

  @ApiProperty({ type: [QueuedRun], description: 'Those that wait, in their order' })
  readonly queued!: readonly QueuedRun[];

  @ApiProperty({ type: [QueuedRun], description: 'Those that ended lately, newest first' })
  readonly ended!: readonly QueuedRun[];
}

export class NamedChoice {
  @ApiText()
  readonly name!: string;

  @ApiText()
  readonly description!: string;
}

export class StartOptions {
  @ApiProperty({ type: [NamedChoice] })
  readonly recipes!: readonly NamedChoice[];

  @ApiProperty({ type: [NamedChoice] })
  readonly algorithms!: readonly NamedChoice[];
}
