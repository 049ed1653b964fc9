import { Controller, Headers, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { RecordsBody } from '../ingest/records-body.js';
import { Access } from '../keys/access.js';
import { ProblemError } from '../problems/problem.js';
import { OTLP_MEDIA_TYPES } from '../http/records-route.js';
import { otlpAnswer, readOtlpBody } from './otlp-body.js';
import { TracesService } from './traces.service.js';

@ApiTags('recording')
@Controller('v1/traces')
export class TracesController {
  constructor(private readonly traces: TracesService) {}

  @Post()
  @Access('ingest')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Takes spans over OTLP/HTTP, as exporters of OpenTelemetry send them',
    description:
      'Spans of the GenAI conventions become steps; each trace becomes an episode once it is complete. Answers once the spans are on disk.',
  })
  async export(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Headers('x-retrace-run') run?: string,
  ): Promise<void> {
    const { body } = request;
    if (!(body instanceof RecordsBody)) throw new ProblemError('MALFORMED_BODY', 'The request has no body');
    body.isHandled = true;
    try {
      const mediaType = OTLP_MEDIA_TYPES.find((known) => known === body.mediaType) ?? 'application/json';
      const partial = await this.traces.accept(readOtlpBody(body.bytes, mediaType), run);
      void reply.header('content-type', mediaType).send(otlpAnswer(mediaType, partial));
    } finally {
      body.reservation.release();
    }
  }
}
