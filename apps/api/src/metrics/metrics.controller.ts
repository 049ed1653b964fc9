import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { AccessAsOf } from '../keys/access.js';
import { RunParams } from '../runs/run-params.js';
import { MetricSeriesList, MetricsQuery } from './metrics.dto.js';
import { MetricsService } from './metrics.service.js';

@ApiTags('metrics')
@Controller('api/runs/:runId/metrics')
export class MetricsController {
  constructor(private readonly metrics: MetricsService) {}

  @Get()
  @AccessAsOf('read')
  @ApiOperation({
    summary: 'Returns metrics of a run as series',
    description:
      'Of a run that trains, the answer may be ten seconds old, or as old as one reading of the store takes if that is longer; this holds for records that were stored before the question, too. Of a run whose log this server does not follow, it may be over a minute old.',
  })
  @ApiOkResponse({ type: MetricSeriesList })
  series(@Param() { runId }: RunParams, @Query() query: MetricsQuery): Promise<MetricSeriesList> {
    return this.metrics.series(runId, query);
  }
}
