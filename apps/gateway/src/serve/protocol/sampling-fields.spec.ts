import { DISTRIBUTION_PARAMETERS } from '@retrace/chat';
import { describe, expect, it } from 'vitest';
import { RequestError } from '../../http/request-error.js';
import { RequestFields } from './request-fields.js';
import { readSampling } from './sampling-fields.js';
import { readTools } from './tools.js';

const read = (name: string, value: unknown) => () => {
  const fields = new RequestFields({ [name]: value });
  readTools(fields);
  readSampling(fields, 1);
  fields.refuseOthers();
};

describe('Parameters that change the distribution', () => {
  it.each(Object.entries(DISTRIBUTION_PARAMETERS))(
    '%s is refused, unless its value changes nothing',
    (name, neutral) => {
      for (const value of [{ a: 1 }, [1], 7, 'x']) expect(read(name, value)).toThrow(RequestError);
      for (const value of neutral) expect(read(name, value)).not.toThrow();
    },
  );
});
