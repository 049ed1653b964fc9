import { Body, Controller, HttpCode, Param, Patch, Post, Req, Res } from '@nestjs/common';
import { ApiBody, ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Access } from '../keys/access.js';
import { RunParams } from '../runs/run-params.js';
import { AnnotatedRun, AppendedRecords, EndedRun, StartedRun } from './ingest.dto.js';
import { schemaOf } from './ingest-schemas.js';
import { RecordingService } from './recording.service.js';

@ApiTags('recording')
@Controller('api/runs')
export class IngestController {
  constructor(private readonly recording: RecordingService) {}

  @Post()
  @Access('ingest')
  @ApiOperation({ summary: 'Starts a run that agents outside of Retrace record' })
  @ApiBody({ schema: schemaOf('StartRunRequest') })
  @ApiCreatedResponse({ type: StartedRun })
  @ApiOkResponse({ type: StartedRun, description: 'The run had been started with the same id and content' })
  async start(
    @Body() request: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<StartedRun> {
    const { runId, isNew } = await this.recording.startRun(request);
    void reply.status(isNew ? 201 : 200);
    return { runId };
  }

  @Patch(':runId')
  @Access('ingest')
  @ApiOperation({
    summary: 'Changes tags, notes, star or archive of a run',
    description:
      'Answers once the store shows it. What is left out stays as it was; earlier ones stay in the log.',
  })
  @ApiBody({ schema: schemaOf('AnnotateRunRequest') })
  @ApiOkResponse({ type: AnnotatedRun })
  async annotate(@Param() { runId }: RunParams, @Body() request: unknown): Promise<AnnotatedRun> {
    await this.recording.annotateRun(runId, request);
    return { runId };
  }

  @Post(':runId/end')
  @Access('ingest')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Ends a recorded run and closes its complete groups',
    description:
      'Records are still taken. Called again after late episodes, it closes the groups that they complete.',
  })
  @ApiBody({ schema: schemaOf('EndRunRequest') })
  @ApiOkResponse({ type: EndedRun })
  end(@Param() { runId }: RunParams, @Body() request: unknown): Promise<EndedRun> {
    return this.recording.endRun(runId, request);
  }

  @Post(':runId/records')
  @Access('ingest')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Appends records to a run, all of them or none',
    description: 'Answers once the log has them. Sending the same records again is safe: each counts once.',
  })
  @ApiOkResponse({ type: AppendedRecords })
  append(@Param() { runId }: RunParams, @Req() request: FastifyRequest): Promise<AppendedRecords> {
    return this.recording.append(runId, request.body);
  }
}
