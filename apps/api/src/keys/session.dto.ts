import { ApiProperty } from '@nestjs/swagger';
import { KEY_SCOPES, type KeyScope } from '@retrace/process';
import { IsString, MaxLength } from '@retrace/validation';
import { ApiBoolean, ApiNullableText, ApiNullableTime } from '../http/properties.js';

const MAX_KEY_LENGTH = 200;

export class SessionRequest {
  @ApiProperty({ type: String, maxLength: MAX_KEY_LENGTH, description: 'API key' })
  @IsString({ message: 'key must be text' })
  @MaxLength(MAX_KEY_LENGTH, { message: `key must have at most ${MAX_KEY_LENGTH} characters` })
  readonly key!: string;
}

/** The fields of the key are null, and it has no scopes, where a request has none. */
export class SessionStatus {
  @ApiBoolean('Whether requests need an API key')
  readonly needsKey!: boolean;

  @ApiNullableText('Contained in the key of this request: `retrace_<id>_…`')
  readonly keyId!: string | null;

  @ApiNullableText()
  readonly keyName!: string | null;

  @ApiProperty({ type: 'array', items: { type: 'string', enum: [...KEY_SCOPES] } })
  readonly scopes!: readonly KeyScope[];

  @ApiNullableTime('null for a key that never expires')
  readonly expiresAt!: string | null;
}
