import { Body, Controller, Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { listAlgorithms, listRecipes } from '@retrace/config';
import { Access } from '../keys/access.js';
import { RunParams } from '../runs/run-params.js';
import {
  QueueParams,
  TrainingQueue,
  StartOptions,
  TrainRunRequest,
  TrainingChange,
} from './run-queue.dto.js';
import { RunQueueService } from './run-queue.service.js';

@ApiTags('runs')
@Controller('api')
export class RunQueueController {
  constructor(private readonly queue: RunQueueService) {}

  @Get('recipes')
  @Access('read')
  @ApiOperation({ summary: 'Lists the built-in recipes, and the algorithms that can train them' })
  @ApiOkResponse({ type: StartOptions })
  options(): StartOptions {
    const named = ({ name, description }: StartOptions['recipes'][number]) => ({ name, description });
    return { recipes: listRecipes().map(named), algorithms: listAlgorithms().map(named) };
  }

  @Get('queue')
  @Access('read')
  @ApiOperation({
    summary: 'Returns the run that this server trains, those that wait, and those that ended lately',
  })
  @ApiOkResponse({ type: TrainingQueue })
  show(): Promise<TrainingQueue> {
    return this.queue.show();
  }

  @Post('queue')
  @Access('admin')
  @HttpCode(200)
  @ApiOperation({
    summary:
      'Starts a run of a built-in recipe or of that of another run, or queues it behind the run that is trained',
    description:
      'One run is trained at a time, in the order of the requests; at most 20 wait. They wait through a restart of the server. ' +
      'An unfinished run of the same recipe is resumed. Answered with 501 by an API without a supervisor, and with 504 where the supervisor is late, which may still do it: the queue shows that.',
  })
  @ApiOkResponse({ type: TrainingQueue })
  start(@Body() start: TrainRunRequest): Promise<TrainingQueue> {
    return this.queue.ask({ kind: 'start', start: { ...start } });
  }

  @Delete('queue/:queueId')
  @Access('admin')
  @ApiOperation({ summary: 'Cancels a run that waits' })
  @ApiOkResponse({ type: TrainingQueue })
  cancel(@Param() { queueId }: QueueParams): Promise<TrainingQueue> {
    return this.queue.ask({ kind: 'cancel', queueId });
  }

  @Post('runs/:runId/training')
  @Access('admin')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Stops the run that this server trains, or resumes one that has not ended',
    description:
      'A run that was stopped can be resumed. Resuming waits in the queue behind the run that is trained.',
  })
  @ApiOkResponse({ type: TrainingQueue })
  change(@Param() { runId }: RunParams, @Body() { action }: TrainingChange): Promise<TrainingQueue> {
    return this.queue.ask({ kind: action, runId });
  }
}
