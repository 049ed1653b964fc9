import type { PassAtK, PolicyValidated, ValidationRow } from '../events/validation-events.js';
import {
  finiteNumber,
  integerAtLeast,
  listOf,
  nullable,
  numberAtLeast,
  numberBetween,
  objectOf,
  oneOf,
  text,
  type FieldRules,
} from './rules.js';

const row = objectOf<ValidationRow>({
  decoding: oneOf('greedy', 'sampled'),
  family: nullable(text),
  numTasks: integerAtLeast(0),
  numEpisodes: integerAtLeast(0),
  numSuccesses: integerAtLeast(0),
  numUnknown: integerAtLeast(0),
  numFailed: integerAtLeast(0),
  successRate: nullable(numberBetween(0, 1)),
  successLow: numberBetween(0, 1),
  successHigh: numberBetween(0, 1),
  passAtK: listOf(
    objectOf<PassAtK>({ k: integerAtLeast(1), pass: numberBetween(0, 1), numTasks: integerAtLeast(0) }),
  ),
  meanReturn: nullable(finiteNumber),
});

export const POLICY_VALIDATED_RULES: FieldRules<PolicyValidated> = {
  policyVersion: integerAtLeast(0),
  updateNumber: integerAtLeast(0),
  split: oneOf('train', 'validation', 'test'),
  seconds: numberAtLeast(0),
  rows: listOf(row),
};
