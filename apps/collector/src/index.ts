export type { BaselineOptions } from './baselines/measure-baselines.js';
export {
  collectEpisodes,
  type CollectEpisodesOptions,
  type CollectResult,
} from './players/collect-episodes.js';
export { Collector, type CollectorOptions } from './collector.js';
export { ChatEndpointActor, TEXT_ONLY } from './actors/chat-endpoint-actor.js';
export {
  openChatEndpoint,
  type ChatEndpoint,
  type ChatEndpointOptions,
} from './actors/open-chat-endpoint.js';
export { CollectorError, type CollectorErrorCode } from './collector-error.js';
export type { Actor, ActRequest, FinishedAct } from './turn/actor.js';
export { EndpointActor } from './actors/endpoint-actor.js';
export {
  forkEpisodes,
  type ForkEpisodesOptions,
  type ForkPlayer,
  type ForkResult,
} from './players/fork-episodes.js';
export { readForkedStep, returnFrom, type ForkedStep } from './fork/forked-step.js';
export { openForkPlayer } from './players/open-fork-player.js';
export { EpisodeSlot, type SlotContext } from './episode/episode-slot.js';
export type { EndedEpisode, RecorderContext } from './episode/episode-recorder.js';
export type { PlannedEpisode, PlannedGroup } from './episode/planned-episode.js';
export type { EpisodeFailure, Prompt, Turn } from './turn/turn.js';
export { createSlots, playEpisodes, type PlayOptions } from './episode/play-episodes.js';
export type { BeginLoop, EpisodeLoop, EpisodeLoops } from './loop/episode-loop.js';
export { openLoop } from './loop/open-loop.js';
export { PolicyActor } from './actors/policy-actor.js';
export { planRound, type RoundPlanOptions } from './round/round-plan.js';
export { runCollector } from './run-collector.js';
export { runValidator } from './run-validator.js';
export { Validator } from './validation/validator.js';
export { scriptedAgent, ScriptedActor } from './actors/scripted-actor.js';
export { TrajectoryWriter } from './writer/trajectory-writer.js';
export { openPlayer } from './players/open-player.js';
export type { OpenPlayerOptions } from './players/open-player-options.js';
export { type Player } from './players/player.js';
export { readPlayerName, type PlayerName } from './players/player-name.js';
export {
  playTasks,
  type PlayedTasks,
  type PlayTasksOptions,
  type TaskSelection,
} from './players/play-tasks.js';
