import { Body, Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access } from '../keys/access.js';
import { RunParams } from '../runs/run-params.js';
import { AgentAccess, AskPolicyRequest, PolicyAnswer } from './agents.dto.js';
import { AgentsService } from './agents.service.js';

@ApiTags('policies')
@Controller('api')
export class AgentsController {
  constructor(private readonly agents: AgentsService) {}

  @Get('agents')
  @Access('read')
  @ApiOperation({
    summary: 'Returns the address at which agents are answered by the newest policy, and recorded',
  })
  @ApiOkResponse({ type: AgentAccess })
  async show(): Promise<AgentAccess> {
    return { proxy: await this.agents.proxy() };
  }

  @Post('runs/:runId/answers')
  @Access('ingest')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Asks a policy of a run; the question is recorded as the calls of agents are',
    description:
      'A question is recorded, so a key needs the scope `ingest`. Answered with 404 where the server runs no proxy for agents, where that passes calls on to another model server, or where the run has no policy whose weights are kept, and with 503 while none can be loaded.',
  })
  @ApiOkResponse({ type: PolicyAnswer })
  ask(@Param() { runId }: RunParams, @Body() request: AskPolicyRequest): Promise<PolicyAnswer> {
    return this.agents.ask(runId, request);
  }
}
