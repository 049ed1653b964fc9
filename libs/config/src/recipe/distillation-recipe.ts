import { DISTILLATION_OBJECTIVES, type DistillationObjective } from '@retrace/algorithms';
import { TOKEN_SERVER_KINDS, type TokenServerKind } from '@retrace/chat';
import { IsBoolean, IsDefined, IsIn, IsOptional, Matches, Type, ValidateNested } from '@retrace/validation';
import { Advanced, IsLine, IsNullable, IsNumberFrom, IsWholeNumberFrom } from './field-rules.js';
import { InitRecipe } from './init-recipe.js';
import { OnlyWhere, OnlyWith } from './sibling-rules.js';

const TEACHER_SERVER_KINDS = [...TOKEN_SERVER_KINDS, 'tinker'] as const;

/** A server that says how likely the tokens of a prompt are for its model, which must read the policy's tokens. */
export class TeacherEndpointRecipe {
  /** Kind of server; `vllm` is also `retrace serve`, `tinker` one of the Tinker API. */
  @IsIn(TEACHER_SERVER_KINDS) readonly kind!: TokenServerKind | 'tinker';
  /** Address of the server, without a path: `http://127.0.0.1:8000`; with any path for `tinker`. */
  @IsLine({ maxLength: 2000 }) readonly url!: string;
  /** Name under which a vLLM server serves the teacher; SGLang serves one model. For `tinker`: a base model of the server, or the path (`tinker://…`) of a policy that was saved there for samplers. */
  @IsOptional() @IsLine({ maxLength: 4096 }) readonly model?: string;
  /** Name of the environment variable of the trainer that holds the server's API key; without it, none is sent. */
  @IsOptional() @IsLine({ maxLength: 200 }) readonly apiKeyVariable?: string;
  /** Most requests at one time. @defaultValue 16 */
  @Advanced()
  @IsOptional()
  @IsWholeNumberFrom(1, 1000, { unit: 'requests', why: 'a server queues more' })
  readonly concurrency?: number;
  /** Time limit of one request; not for `tinker`. @defaultValue 120000 */
  @OnlyWhere('kind', TOKEN_SERVER_KINDS)
  @Advanced()
  @IsOptional()
  @IsWholeNumberFrom(1, 300_000, { unit: 'milliseconds', why: 'the HTTP client waits no longer' })
  readonly timeoutMs?: number;
  /** Number of times that a request is made again after a temporary failure; not for `tinker`. @defaultValue 3 */
  @OnlyWhere('kind', TOKEN_SERVER_KINDS)
  @Advanced()
  @IsOptional()
  @IsWholeNumberFrom(0, 100, { unit: 'attempts', why: 'an update waits for all of them' })
  readonly maxRetries?: number;
  /** Time limit of one request with its repetitions, also while the server is down or refuses for its rate limit. @defaultValue 600000 */
  @Advanced()
  @IsOptional()
  @IsWholeNumberFrom(1, 86_400_000, { unit: 'milliseconds', why: 'the most is a day' })
  readonly deadlineMs?: number;
}

/** The policy that teaches: a version that a run published, a model directory, or a model on a server. It reads the tokens of the policy that learns. */
export class TeacherRecipe {
  /** A policy of a run, whose model may have another shape. A teacher is one of this, `model` and `endpoint`. @defaultValue null */
  @IsNullable() @ValidateNested() @Type(() => InitRecipe) readonly policy?: InitRecipe | null;
  /** Path of a model directory in Hugging Face's format, as for `policy.model`. @defaultValue null */
  @IsNullable() @IsLine({ maxLength: 4096 }) readonly model?: string | null;
  /** SHA-256 of the directory's weights; set when a run begins, and not by hand. @defaultValue null */
  @OnlyWith('model', '')
  @Advanced()
  @IsNullable()
  @IsLine({ maxLength: 64 })
  @Matches(/^[0-9a-f]{64}$/, { message: 'must be 64 hexadecimal digits' })
  readonly fingerprint?: string | null;
  /**
   * A server that reads the tokens for the teacher, with any engine. What it said is read from the recorded tokens when an update is made again, so
   * `updateTokens` must be true. @defaultValue null
   */
  @IsNullable()
  @ValidateNested()
  @Type(() => TeacherEndpointRecipe)
  readonly endpoint?: TeacherEndpointRecipe | null;
}

/**
 * On-policy distillation: a teacher says how likely each token that the policy sampled would have been for it, and the policy learns by
 * coefficient · (logπ_teacher − logπ), the negative reverse KL of the token, as its advantage. With `topK` the teacher says that of its k likeliest tokens
 * at each place, and the policy learns by coefficient · KL over those and one bucket for all others, as a term of the loss.
 */
export class DistillationRecipe {
  /** The teacher. */
  @IsDefined() @ValidateNested() @Type(() => TeacherRecipe) readonly teacher!: TeacherRecipe;
  /**
   * How many of the teacher's likeliest tokens S are compared at each place; null compares the sampled token only. The KL is a term of the loss, with its
   * gradient through π, weighted as the policy loss is; the probability of all other tokens is compared as one: tail = 1 − Σ_S. Larger k is closer to the KL
   * over the whole vocabulary. A policy of a run, a model directory, or a vLLM or SGLang server can teach so, with engine `tensorflow` or `torch`; vLLM tells
   * 20 unless it was started with a larger `--max-logprobs`. @defaultValue null
   */
  @IsNullable()
  @IsWholeNumberFrom(1, 100, { unit: 'tokens', why: 'what more say is stored with each trained token' })
  readonly topK?: number | null;
  /**
   * `reverseKl`, Σ_S π (logπ − logπ_teacher) + tail (log tail − log tail_teacher), seeks what the teacher says most; without `topK` it is the advantage of the
   * sampled token. `forwardKl`, Σ_S π_teacher (logπ_teacher − logπ) + tail_teacher (log tail_teacher − log tail), covers all that the teacher may say, and needs
   * `topK`. (Agarwal et al., "On-Policy Distillation of Language Models", 2024; verl's distillation with top-k has no tail.) @defaultValue "reverseKl"
   */
  @IsOptional() @IsIn(DISTILLATION_OBJECTIVES) readonly objective?: DistillationObjective;
  /** Weight of the KL. @defaultValue 1 */
  @IsOptional()
  @IsNumberFrom(0.0001, 100, { why: 'a smaller one teaches nothing' })
  readonly coefficient?: number;
  /** Whether the advantages of the rewards count too: they are added. Without them a reward only decides that its episode is trained. @defaultValue false */
  @IsOptional() @IsBoolean() readonly withReward?: boolean;
}
