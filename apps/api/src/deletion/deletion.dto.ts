import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsString, Length, ValidateIf } from '@retrace/validation';
import { QueryBoolean } from '../http/query-decorators.js';
import { ApiInteger, ApiNullableInteger } from '../http/properties.js';

const FORCE = 'Delete also episodes that updates were trained on, which then can not be replayed';

export class DeleteEpisodeQuery {
  @QueryBoolean(FORCE)
  readonly force?: boolean;
}

export class DeleteTaggedRequest {
  @ApiProperty({
    type: String,
    minLength: 1,
    maxLength: 256,
    description: 'Every episode of the run that has this tag now is deleted',
  })
  @IsString({ message: 'tag must be text' })
  @Length(1, 256, { message: 'tag must have 1 to 256 characters' })
  readonly tag!: string;

  @ApiPropertyOptional({ type: Boolean, default: false, description: FORCE })
  // IsOptional would take null, too.
  @ValidateIf((_, force) => force !== undefined)
  @IsBoolean({ message: 'force must be true or false' })
  readonly force?: boolean;
}

export class DeletionResult {
  @ApiInteger('Deleted episodes')
  readonly numEpisodes!: number;

  @ApiInteger('Rows deleted from the store')
  readonly numRows!: number;

  @ApiNullableInteger(
    'Records that the log released; null on Kafka, where the topic drops them by its retention',
  )
  readonly numReleased!: number | null;
}
