import { Body, Controller, Get, HttpCode, Param, Patch, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access } from '../keys/access.js';
import { RunParams } from '../runs/run-params.js';
import { QuestionChange } from '../update-questions/question-state.dto.js';
import { Replay, ReplayParams, ReplayRequest } from './replays.dto.js';
import { ReplaysService } from './replays.service.js';

@ApiTags('updates')
@Controller('api/runs/:runId/replays')
export class ReplaysController {
  constructor(private readonly replays: ReplaysService) {}

  @Post()
  @Access('sql')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Makes a recorded update again, and compares it with what was recorded',
    description:
      'From the same weights and optimizer state, on the same stored episodes, in a process of its own; ask for it again until its status is ' +
      '`finished`, `failed` or `cancelled`. Nothing is written. The server forgets replays when it stops, and old ones.',
  })
  @ApiOkResponse({ type: Replay })
  ask(@Param() { runId }: RunParams, @Body() request: ReplayRequest): Promise<Replay> {
    return this.replays.ask(runId, request);
  }

  @Get(':replayId')
  @Access('read')
  @ApiOperation({ summary: 'Returns a replay, with its result once it has finished' })
  @ApiOkResponse({ type: Replay })
  get(@Param() params: ReplayParams): Replay {
    return this.replays.get(params);
  }

  @Patch(':replayId')
  @Access('sql')
  @ApiOperation({ summary: 'Cancels a replay; one that has ended stays as it is' })
  @ApiOkResponse({ type: Replay })
  cancel(@Param() params: ReplayParams, @Body() _change: QuestionChange): Promise<Replay> {
    return this.replays.cancel(params);
  }
}
