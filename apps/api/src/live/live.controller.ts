import { Controller, Get, Param, Res } from '@nestjs/common';
import { ApiHeader, ApiOkResponse, ApiProduces, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { RunParams } from '../runs/run-params.js';
import { LastEventId } from './last-event-id.js';
import { LiveService } from './live.service.js';

@ApiTags('live')
@Controller('api/runs/:runId/live')
export class LiveController {
  constructor(private readonly live: LiveService) {}

  @Get()
  @ApiProduces('text/event-stream')
  @ApiHeader({
    name: 'Last-Event-ID',
    required: false,
    description: 'Offset of the last message that was received',
  })
  @ApiOkResponse({
    description: 'Events metrics, policy, update, run; heartbeat; reset (read everything anew)',
  })
  stream(
    @Param() { runId }: RunParams,
    @LastEventId() lastOffset: number | null,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.live.open(reply, runId, lastOffset);
  }
}
