import { Module, type DynamicModule } from '@nestjs/common';
import { ApiConfig } from './config/api-config.js';
import { AgentsModule } from './agents/agents.module.js';
import { AlarmsModule } from './alarms/alarms.module.js';
import { DatasetsModule } from './datasets/datasets.module.js';
import { DeletionModule } from './deletion/deletion.module.js';
import { EpisodesModule } from './episodes/episodes.module.js';
import { ShortIdsModule } from './http/short-ids.js';
import { HealthModule } from './health/health.module.js';
import { KeysModule } from './keys/keys.module.js';
import { IngestModule } from './ingest/ingest.module.js';
import { LiveModule } from './live/live.module.js';
import { LogModule } from './log/log.module.js';
import { MetricsModule } from './metrics/metrics.module.js';
import { NotebooksModule } from './notebooks/notebooks.module.js';
import { PlaysModule } from './plays/plays.module.js';
import { PoliciesModule } from './policies/policies.module.js';
import { PrometheusModule } from './prometheus/prometheus.module.js';
import { RewardsModule } from './rewards/rewards.module.js';
import { RunControl } from './run-queue/run-control.js';
import { RunQueueModule } from './run-queue/run-queue.module.js';
import { RunsModule } from './runs/runs.module.js';
import { SinkModule } from './sink/sink.module.js';
import { SqlModule } from './sql/sql.module.js';
import { StoreModule } from './store/store.module.js';
import { TracesModule } from './traces/traces.module.js';
import { UpdatesModule } from './updates/updates.module.js';
import { SamplingModule } from './sampling/sampling.module.js';
import { ValidationsModule } from './validations/validations.module.js';
import { WarningsModule } from './warnings/warnings.module.js';
import { ReplaysModule } from './replays/replays.module.js';
import { BatchesModule } from './batches/batches.module.js';
import { WhatIfsModule } from './what-ifs/what-ifs.module.js';

@Module({})
export class AppModule {
  static with(config: ApiConfig, runControl = new RunControl()): DynamicModule {
    return {
      module: AppModule,
      imports: [
        {
          module: ConfigModule,
          global: true,
          providers: [
            { provide: ApiConfig, useValue: config },
            { provide: RunControl, useValue: runControl },
          ],
          exports: [ApiConfig, RunControl],
        },
        LogModule,
        StoreModule,
        SinkModule,
        KeysModule,
        ShortIdsModule,
        LiveModule,
        HealthModule,
        PrometheusModule,
        RunsModule,
        RunQueueModule,
        AgentsModule,
        MetricsModule,
        EpisodesModule,
        DeletionModule,
        UpdatesModule,
        BatchesModule,
        WhatIfsModule,
        ReplaysModule,
        PoliciesModule,
        WarningsModule,
        AlarmsModule,
        SamplingModule,
        ValidationsModule,
        RewardsModule,
        DatasetsModule,
        NotebooksModule,
        PlaysModule,
        SqlModule,
        IngestModule,
        TracesModule,
      ],
    };
  }
}

@Module({})
class ConfigModule {}
