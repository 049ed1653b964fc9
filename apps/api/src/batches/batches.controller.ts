import { Body, Controller, HttpCode, Param, Post, Res, StreamableFile } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProduces, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { brokenOff } from '../http/broken-off.js';
import { Access } from '../keys/access.js';
import { RunParams } from '../runs/run-params.js';
import { ARROW_STREAM } from '../sql/sql.dto.js';
import { BatchRequest } from './batches.dto.js';
import { BatchesService } from './batches.service.js';

@ApiTags('updates')
@Controller('api/runs/:runId/batches')
export class BatchesController {
  constructor(private readonly batches: BatchesService) {}

  @Post()
  @Access('sql')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Makes a batch for another trainer: tokens with advantages, weights and logprobs',
    description:
      'Of the episodes of a committed update, or of groups that are drawn from the run; computed as for an update of the run, with the changes in `set`. ' +
      'Rows are sequences; the lists of a row have a value for each token. Made in the process that answers what-ifs and replays, one after the ' +
      'other, and nothing is recorded. The answer begins once the batch is made; a request that is broken off cancels it.',
  })
  @ApiProduces(ARROW_STREAM)
  @ApiOkResponse({
    description: 'Rows in Arrow’s stream format',
    schema: { type: 'string', format: 'binary' },
  })
  async make(
    @Param() { runId }: RunParams,
    @Body() request: BatchRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<StreamableFile> {
    const { rows, numBytes } = await this.batches.make(runId, request, brokenOff(reply));
    return new StreamableFile(rows, { type: ARROW_STREAM, length: numBytes });
  }
}
