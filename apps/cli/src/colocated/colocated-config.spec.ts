import { newRunId } from '@retrace/trajectory';
import { expect, it } from 'vitest';
import { readColocatedConfig } from './colocated-config.js';

const ENVIRONMENT = {
  RETRACE_LOG_DIRECTORY: '/never-made/log',
  RETRACE_RUN_ID: newRunId(),
  RETRACE_CHECKPOINT_DIRECTORY: '/never-made/checkpoints',
  RETRACE_TOKENIZER_DIRECTORY: '/never-made/tokenizers',
};

const portsOf = (port: string) => {
  const environment = { ...ENVIRONMENT, RETRACE_METRICS_PORT: port, RETRACE_COLOCATE_VALIDATOR: 'on' };
  const { trainer, collector, validator } = readColocatedConfig(environment);
  return [trainer, collector, validator].map((config) => config?.metricsAddress?.port);
};

it('validates only where it is told to, each part with the metrics port that it has as a process of its own', () => {
  expect(readColocatedConfig(ENVIRONMENT).validator).toBeNull();
  expect(readColocatedConfig({ ...ENVIRONMENT, RETRACE_COLOCATE_VALIDATOR: 'off' }).validator).toBeNull();
  expect(portsOf('9000')).toEqual([9000, 9001, 9002]);
  expect(portsOf('0')).toEqual([0, 0, 0]);
  expect(() => readColocatedConfig({ ...ENVIRONMENT, RETRACE_COLOCATE_VALIDATOR: 'yes' })).toThrow(
    'RETRACE_COLOCATE_VALIDATOR',
  );
});
