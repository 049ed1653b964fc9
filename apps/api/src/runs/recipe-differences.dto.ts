import type { Json } from '@retrace/trajectory';
import { ApiProperty } from '@nestjs/swagger';
import { ApiJson } from '../http/any-json.js';
import { ApiText } from '../http/properties.js';

export class DifferingRecipeField {
  @ApiText('Dotted path, as `--set` takes it')
  readonly field!: string;

  @ApiJson('Value in the first run; null where its recipe leaves the field out')
  readonly first!: Json;

  @ApiJson('Value in the second run')
  readonly second!: Json;
}

export class RecipeDifferences {
  @ApiProperty({ type: [DifferingRecipeField] })
  readonly fields!: readonly DifferingRecipeField[];
}
