import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access } from '../keys/access.js';
import { RunParams } from '../runs/run-params.js';
import { RewardAuditReport } from './reward-audit.dto.js';
import { RewardDifferences } from './reward-differences.dto.js';
import {
  RewardAuditQuery,
  RewardVersionPairParams,
  RewardVersionParams,
  ScoredEpisodesQuery,
} from './reward-params.js';
import { RewardVersionList } from './reward-versions.dto.js';
import { RewardsService } from './rewards.service.js';

@ApiTags('rewards')
@Controller('api/runs/:runId/reward-versions')
export class RewardsController {
  constructor(private readonly rewards: RewardsService) {}

  @Get()
  @Access('read')
  @ApiOperation({ summary: 'Lists the reward versions that a run has scores of, named last first' })
  @ApiOkResponse({ type: RewardVersionList })
  async list(@Param() { runId }: RunParams): Promise<RewardVersionList> {
    return { versions: await this.rewards.list(runId) };
  }

  @Get(':version/audit')
  @Access('read')
  @ApiOperation({
    summary:
      'Holds a reward version against the success of the episodes: what pays failures, and what rose while the success fell',
  })
  @ApiOkResponse({ type: RewardAuditReport })
  audit(@Param() params: RewardVersionParams, @Query() query: RewardAuditQuery): Promise<RewardAuditReport> {
    return this.rewards.audit(params, query);
  }

  @Get(':version/differences/:otherVersion')
  @Access('read')
  @ApiOperation({ summary: 'Compares two reward versions over the episodes that both have scored' })
  @ApiOkResponse({ type: RewardDifferences })
  compare(
    @Param() params: RewardVersionPairParams,
    @Query() query: ScoredEpisodesQuery,
  ): Promise<RewardDifferences> {
    return this.rewards.compare(params, query);
  }
}
