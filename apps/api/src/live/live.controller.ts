import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { ApiHeader, ApiOkResponse, ApiOperation, ApiTags, getSchemaPath } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Access } from '../keys/access.js';
import { AccessControl } from '../keys/access-control.js';
import { RunParams } from '../runs/run-params.js';
import { LIVE_DATA } from './live-message.dto.js';
import { LastEventId } from './last-event-id.js';
import { LiveService } from './live.service.js';

@ApiTags('live')
@Controller('api/runs/:runId/live')
export class LiveController {
  constructor(
    private readonly live: LiveService,
    private readonly control: AccessControl,
  ) {}

  @Get()
  @Access('read')
  @ApiOperation({ summary: 'Streams the events of a run as they happen (server-sent events)' })
  @ApiHeader({
    name: 'Last-Event-ID',
    required: false,
    schema: { type: 'integer', minimum: 0 },
    description: 'Id of the last message that the client received',
  })
  @ApiOkResponse({
    description:
      'Messages `metrics`, `policy`, `update` and `run`, with an id and data of the schemas named here; `heartbeat` ' +
      'every 15 seconds; `reset` when messages were missed and everything must be read again.',
    content: {
      'text/event-stream': { schema: { oneOf: LIVE_DATA.map((data) => ({ $ref: getSchemaPath(data) })) } },
    },
  })
  stream(
    @Param() { runId }: RunParams,
    @LastEventId() lastOffset: number | null,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const mayGoOn = () => this.control.mayGoOn(request, 'read');
    return this.live.open(reply, { runId, lastOffset, mayGoOn });
  }
}
