import { Uuid } from '../http/query-decorators.js';

export class PlayParams {
  @Uuid('Id of the play')
  readonly playId!: string;
}
