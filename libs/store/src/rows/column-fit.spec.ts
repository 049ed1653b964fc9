import { fields } from '@retrace/trajectory/testing';
import { describe, expect, it } from 'vitest';
import { payloadField } from './payload-field.js';

const { finiteNumber, flag, float64s, integerAtLeast, json, listOf, nullable, objectOf, text, uuid } = fields;

describe('payloadField', () => {
  it.each([
    ['a column that is missing', text.in('colour'), 'table events has no column colour'],
    ['text in numbers', text.in('epoch'), "column epoch holds numbers, so a field of text can't have it"],
    ['numbers in text', flag.in('plan_id'), "column plan_id holds text, so a field of numbers can't have it"],
    ['a list in text', listOf(text).in('plan_id'), 'column plan_id holds text'],
    ['a list of numbers', listOf(integerAtLeast(0)).in('tags'), 'column tags holds lists of text'],
    ['an array of another class', float64s.in('token_ids'), 'column token_ids holds Int32Array'],
    ['bytes', text.in('raw'), 'column raw holds Binary'],
    ['a nullable list', nullable(listOf(text)).in('tags'), 'the empty list, which stands for null'],
    ['a nullable array', nullable(float64s).in('metric_values'), 'the empty list, which stands for null'],
    ['a nullable text', nullable(text).in('plan_id'), 'the empty text, which stands for null'],
    ['a nullable flag', nullable(flag).in('greedy'), 'there is no column greedy_unknown'],
    ['a flag that could inherit', nullable(flag).in('truncated'), 'no column truncated_unknown'],
    ['a nullable number below 0', nullable(integerAtLeast(-1)).in('epoch'), '-1, which stands for null'],
    [
      'a nullable object',
      nullable(objectOf({ epoch: integerAtLeast(0).in('epoch'), reward: finiteNumber.in('reward') })),
      "column epoch of epoch can't tell that the object of the field is null",
    ],
    [
      'a nullable object whose first member may be null',
      nullable(objectOf({ value: nullable(finiteNumber).in('reward') })),
      "column reward of value can't tell",
    ],
    [
      'a nullable object of text',
      nullable(objectOf({ id: text.in('anchor') })),
      "column anchor of id can't tell",
    ],
  ])('refuses %s', (_what, field, message) => {
    expect(() => payloadField({ field })).toThrow(message);
  });

  it('refuses a field beside one that has all of the JSON text', () => {
    const info = json.in('payload');
    const message = 'field info has all of column payload, so other must have another column';
    expect(() => payloadField({ info, other: text })).toThrow(message);
    expect(() => payloadField({ other: json.in('payload'), info: text })).toThrow(TypeError);
    expect(() => payloadField({ info, other: json.in('payload') })).toThrow(message);
    expect(() => payloadField({ info, other: text.in('plan_id') })).not.toThrow();
  });

  it('takes what columns can hold', () => {
    const declared = {
      id: nullable(uuid).in('parent_episode_id'),
      anchor: nullable(text).in('anchor'),
      valid: nullable(flag).in('action_valid'),
      seed: nullable(integerAtLeast(0)).in('environment_seed'),
      latency: nullable(finiteNumber).in('generation_ms'),
      sampling: nullable(
        objectOf({ temperature: finiteNumber.in('temperature'), topK: integerAtLeast(0).in('top_k') }),
      ),
    };
    expect(() => payloadField(declared)).not.toThrow();
  });
});
