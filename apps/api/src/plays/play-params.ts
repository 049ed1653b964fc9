import { PathId } from '../http/query-decorators.js';

export class PlayParams {
  @PathId('Id of the play')
  readonly playId!: string;
}
