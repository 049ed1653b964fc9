import {
  readCollectorConfig,
  readTrainerConfig,
  readValidatorConfig,
  readVariables,
  type CollectorConfig,
  type RunRoleConfig,
  type TrainerConfig,
  type ValidatorConfig,
} from '@retrace/process';

/** The configurations of the parts of one process. */
export interface ColocatedConfig {
  readonly trainer: TrainerConfig;
  readonly collector: CollectorConfig;
  /** Null where another process validates, or none. */
  readonly validator: ValidatorConfig | null;
}

/**
 * Reads the configuration of a process that is trainer and collector of a run. Their metrics are at ports that follow each other, as those of
 * processes of their own.
 *
 * @throws ProcessError `ENVIRONMENT_VARIABLE_INVALID`, as `readVariables`
 */
export function readColocatedConfig(environment: NodeJS.ProcessEnv): ColocatedConfig {
  const { RETRACE_COLOCATE_VALIDATOR: validates } = readVariables(environment, {
    reads: ['RETRACE_COLOCATE_VALIDATOR'],
  });
  return {
    trainer: readTrainerConfig(environment),
    collector: atPortAfter(readCollectorConfig(environment), 1),
    validator: validates === 'on' ? atPortAfter(readValidatorConfig(environment), 2) : null,
  };
}

function atPortAfter<C extends RunRoleConfig>(config: C, numPorts: number): C {
  const { metricsAddress } = config;
  // 0 is any free port.
  if (metricsAddress === null || metricsAddress.port === 0) return config;
  return { ...config, metricsAddress: { ...metricsAddress, port: metricsAddress.port + numPorts } };
}
