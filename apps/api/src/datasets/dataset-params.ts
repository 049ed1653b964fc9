import { PathText } from '../http/query-decorators.js';

/** Path parameters of everything below a data set. */
export class DatasetParams {
  @PathText(/^[a-z0-9][a-z0-9._-]{0,99}$/, {
    rule: 'lower-case letters, digits, ".", "_" and "-", at most 100 of them',
    description: 'Name of the data set',
  })
  readonly name!: string;
}
