import { ApiProperty } from '@nestjs/swagger';
import { PathId } from '../http/query-decorators.js';
import {
  ApiBoolean,
  ApiInteger,
  ApiNullableBoolean,
  ApiNullableInteger,
  ApiNullableNumber,
  ApiText,
} from '../http/properties.js';
import { RunParams } from '../runs/run-params.js';
import { BodyUpdateNumber } from '../update-questions/body-update-number.js';
import { QuestionState } from '../update-questions/question-state.dto.js';

export class ReplayParams extends RunParams {
  @PathId('Id of the replay')
  readonly replayId!: string;
}

export class ReplayRequest {
  @BodyUpdateNumber()
  readonly updateNumber!: number;
}

class ReplayedMetric {
  @ApiText()
  readonly name!: string;

  @ApiNullableNumber()
  readonly recorded!: number | null;

  @ApiNullableNumber()
  readonly replayed!: number | null;
}

class ReplayedOptimizerStep {
  @ApiInteger('From 1')
  readonly step!: number;

  @ApiNullableNumber()
  readonly recordedLoss!: number | null;

  @ApiNullableNumber()
  readonly replayedLoss!: number | null;

  @ApiNullableNumber('Before the gradient is scaled down')
  readonly recordedGradientNorm!: number | null;

  @ApiNullableNumber('Before the gradient is scaled down')
  readonly replayedGradientNorm!: number | null;
}

class UsedEngineDto {
  @ApiText('As a recipe names it: `tensorflow`, `torch`')
  readonly kind!: string;

  @ApiText('Of its library, with what it runs on')
  readonly version!: string;

  @ApiText('`cpu`, or the name of a GPU')
  readonly device!: string;

  @ApiInteger()
  readonly numProcesses!: number;

  @ApiText('Type in which it multiplies matrices')
  readonly precision!: string;
}

class ReplayEngines {
  @ApiProperty({ type: UsedEngineDto })
  readonly recorded!: UsedEngineDto;

  @ApiProperty({ type: UsedEngineDto })
  readonly replayed!: UsedEngineDto;
}

/** A recorded update, and the same made again. */
export class ReplayResultDto {
  @ApiInteger()
  readonly updateNumber!: number;

  @ApiInteger()
  readonly numEpisodes!: number;

  @ApiBoolean('Whether the loss is the recorded one, but for rounding (1e-5 of it)')
  readonly isReproduced!: boolean;

  @ApiNullableNumber(
    '|replayed − recorded| / max(1, |recorded|) of the loss; null where one of them trained nothing',
  )
  readonly lossDifference!: number | null;

  @ApiBoolean('Whether the weights are the recorded ones, bit for bit')
  readonly sameWeights!: boolean;

  @ApiNullableBoolean(
    'Whether what was recorded of each trained token is the same again, bit for bit; null where nothing was',
  )
  readonly sameTokens!: boolean | null;

  @ApiProperty({
    type: ReplayEngines,
    nullable: true,
    description: 'null for an update from before commits named their engine',
  })
  readonly engine!: ReplayEngines | null;

  @ApiProperty({ type: [ReplayedMetric] })
  readonly metrics!: readonly ReplayedMetric[];

  @ApiProperty({
    type: [ReplayedOptimizerStep],
    nullable: true,
    description: 'null for an update from before they were recorded',
  })
  readonly steps!: readonly ReplayedOptimizerStep[] | null;

  @ApiNullableInteger('The first of them whose loss or gradient norm differs at all; null where none does')
  readonly firstDifferingStep!: number | null;

  @ApiInteger(
    'The update whose checkpoint it began with, 0 for the start of the run; those after it were made again',
  )
  readonly beganAfter!: number;

  @ApiNullableInteger('First of those whose weights differ from the recorded ones; null where all are equal')
  readonly firstInexact!: number | null;
}

export class Replay extends QuestionState {
  @ApiProperty({ type: String, format: 'uuid' })
  readonly replayId!: string;

  @ApiProperty({ type: String, format: 'uuid' })
  readonly runId!: string;

  @ApiInteger()
  readonly updateNumber!: number;

  @ApiProperty({ type: ReplayResultDto, nullable: true, description: 'null until it has finished' })
  readonly result!: ReplayResultDto | null;
}
