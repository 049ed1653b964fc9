import { ApiProperty } from '@nestjs/swagger';
import { ApiInteger, ApiText, ApiTime } from '../http/properties.js';

export class RewardVersionItem {
  @ApiText('SHA-256 of everything that the reward depends on')
  readonly version!: string;

  @ApiText('The name that was given to it; a version with several names is there with each')
  readonly name!: string;

  @ApiTime('When it got this name')
  readonly namedAt!: string;

  @ApiInteger('Episodes that it has scored so far; 0 where none was, as while scoring begins')
  readonly numScored!: number;
}

export class RewardVersionList {
  @ApiProperty({ type: [RewardVersionItem] })
  readonly versions!: readonly RewardVersionItem[];
}
