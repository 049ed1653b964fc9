import { Body, Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { schemaOf } from '../ingest/ingest-schemas.js';
import { RecordingService } from '../ingest/recording.service.js';
import { AccessControl } from '../keys/access-control.js';
import { Access } from '../keys/access.js';
import { requireLevel } from '../keys/register-access.js';
import { isoTimeOfUs } from '../store/store-time.js';
import { AcknowledgedAlarm, SilencedAlarms } from '../warnings/alarms.dto.js';

/** Acknowledges and silences alarms; `AlarmListController` lists them. */
@ApiTags('warnings')
@Controller('api/alarms')
export class AlarmsController {
  constructor(
    private readonly recording: RecordingService,
    private readonly control: AccessControl,
  ) {}

  @Post('acknowledgements')
  @Access('ingest')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Acknowledges an alarm',
    description:
      'Its newest occurrence is sent to no webhook any more, and stays in the list. After a day of quiet, or once its run has ended and goes on, ' +
      'the alarm is another occurrence, as is each failure of a run. Answers once the store shows it, or is too far behind.',
  })
  @ApiBody({ schema: schemaOf('AcknowledgeAlarmRequest') })
  @ApiOkResponse({ type: AcknowledgedAlarm })
  async acknowledge(@Body() body: unknown, @Req() request: FastifyRequest): Promise<AcknowledgedAlarm> {
    return { runId: await this.recording.acknowledgeAlarm(namingKey(body, request)) };
  }

  @Post('silences')
  @Access('ingest')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Silences the alarms of a rule in one run or in all, or ends their silence',
    description:
      'Such alarms are listed and sent to no webhook. In place of a silence of the same rule and run. What is ended must hold: in exactly this run, or in ' +
      'all where none is named, which needs a key of scope `admin`. Answers once the store shows it, or is too far behind.',
  })
  @ApiBody({ schema: schemaOf('SilenceAlarmsRequest') })
  @ApiOkResponse({ type: SilencedAlarms })
  async silence(
    @Body() body: unknown,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SilencedAlarms> {
    // A key that records one agent must not keep the alarms of all others from people.
    if (isObject(body) && !Object.hasOwn(body, 'runId'))
      requireLevel({ control: this.control, request, reply }, 'admin', 'A silence of all runs');
    return { until: isoTimeOfUs(await this.recording.silenceAlarms(namingKey(body, request))) };
  }
}

/** The body with the name of the caller's key as who asks, where there is one: nobody acknowledges as another. */
function namingKey(body: unknown, { caller }: FastifyRequest): unknown {
  return caller.kind === 'key' && isObject(body) ? { ...body, source: caller.key.name } : body;
}

function isObject(body: unknown): body is object {
  return typeof body === 'object' && body !== null && !Array.isArray(body);
}
