import { Controller, Get, Param, Query, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { brokenOff } from '../http/broken-off.js';
import { AccessAsOf } from '../keys/access.js';
import { RunParams } from '../runs/run-params.js';
import { RewardAuditReport } from './reward-audit.dto.js';
import { RewardDifferences } from './reward-differences.dto.js';
import {
  RewardAuditQuery,
  RewardDifferencesQuery,
  RewardVersionPairParams,
  RewardVersionParams,
} from './reward-params.js';
import { RewardVersionList } from './reward-versions.dto.js';
import { RewardsService } from './rewards.service.js';

@ApiTags('rewards')
@Controller('api/runs/:runId/reward-versions')
export class RewardsController {
  constructor(private readonly rewards: RewardsService) {}

  @Get()
  @AccessAsOf('read')
  @ApiOperation({ summary: 'Lists the reward versions that a run was scored with, the newest name first' })
  @ApiOkResponse({ type: RewardVersionList })
  async list(
    @Param() { runId }: RunParams,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RewardVersionList> {
    return { versions: await this.rewards.list(runId, brokenOff(reply)) };
  }

  @Get(':version/audit')
  @AccessAsOf('read')
  @ApiOperation({
    summary: 'Compares a reward version with the success of the episodes',
    description:
      'Says which values of the reward failures get more of than successes, which rose while the success fell (reward hacking), and which episodes to read. ' +
      'Of training episodes, unless `split` says otherwise.',
  })
  @ApiOkResponse({ type: RewardAuditReport })
  audit(
    @Param() params: RewardVersionParams,
    @Query() query: RewardAuditQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RewardAuditReport> {
    return this.rewards.audit(params, query, brokenOff(reply));
  }

  @Get(':version/differences/:otherVersion')
  @AccessAsOf('read')
  @ApiOperation({
    summary: 'Compares two reward versions over the episodes that both have scored',
    description: 'In the answer A is the first version of the address, and B the second.',
  })
  @ApiOkResponse({ type: RewardDifferences })
  compare(
    @Param() params: RewardVersionPairParams,
    @Query() query: RewardDifferencesQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RewardDifferences> {
    return this.rewards.compare(params, query, brokenOff(reply));
  }
}
