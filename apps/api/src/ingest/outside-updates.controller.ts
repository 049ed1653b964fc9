import { Body, Controller, Param, Post, Res } from '@nestjs/common';
import { ApiBody, ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Access } from '../keys/access.js';
import { RunParams } from '../runs/run-params.js';
import { OutsidePolicy, OutsideUpdate } from './ingest.dto.js';
import { schemaOf } from './ingest-schemas.js';
import { RecordingService } from './recording.service.js';

/** Takes what trainers outside made of the episodes of recorded runs, and of others. */
@ApiTags('recording')
@Controller('api/runs/:runId')
export class OutsideUpdatesController {
  constructor(private readonly recording: RecordingService) {}

  @Post('updates')
  @Access('ingest')
  @ApiOperation({
    summary: 'Records an update that a trainer outside made, with the episodes that it was made of',
    description:
      'In a recorded run. The episodes may be of any run. The policy that it made is published as the next version. A request that is sent ' +
      'again with its `id` is recorded once.',
  })
  @ApiBody({ schema: schemaOf('RecordUpdateRequest') })
  @ApiCreatedResponse({ type: OutsideUpdate })
  @ApiOkResponse({ type: OutsideUpdate, description: 'It had been recorded with the same id and content' })
  async recordUpdate(
    @Param() { runId }: RunParams,
    @Body() request: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<OutsideUpdate> {
    const { isNew, ...update } = await this.recording.recordUpdate(runId, request);
    void reply.status(isNew ? 201 : 200);
    return update;
  }

  @Post('policies')
  @Access('ingest')
  @ApiOperation({
    summary: 'Publishes a policy of a trainer outside that no update of the run made',
    description: 'In a recorded run: such as the policy that training starts from, as version 0.',
  })
  @ApiBody({ schema: schemaOf('PublishPolicyRequest') })
  @ApiCreatedResponse({ type: OutsidePolicy })
  @ApiOkResponse({ type: OutsidePolicy, description: 'The version had been published with the same content' })
  async publishPolicy(
    @Param() { runId }: RunParams,
    @Body() request: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<OutsidePolicy> {
    const { isNew, ...policy } = await this.recording.publishPolicy(runId, request);
    void reply.status(isNew ? 201 : 200);
    return policy;
  }
}
