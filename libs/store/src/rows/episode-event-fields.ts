import type { EndReason, Json, Split, StepRecorded } from '@retrace/trajectory';
import { type EpisodeFields, writeRest } from './event-fields.js';

interface StartedRest {
  readonly task: Json;
  readonly forkedFrom: { readonly episodeId: string; readonly step: number } | null;
}

/** The final observation of `EpisodeEnded` is stored in the columns of a step's observation, so that one query reads both. */
export const episodeEventFields: EpisodeFields = {
  EpisodeStarted: {
    write(columns, row, payload) {
      columns.group_id.set(row, payload.groupId);
      columns.group_size.set(row, payload.groupSize);
      columns.group_member.set(row, payload.groupMember);
      columns.environment.set(row, payload.environment);
      columns.environment_seed.set(row, payload.environmentSeed);
      columns.sampling_seed.set(row, payload.samplingSeed);
      columns.split.set(row, payload.split);
      columns.agent.set(row, payload.agent);
      writeRest(columns, row, { task: payload.task, forkedFrom: payload.forkedFrom });
    },
    read(row) {
      const { task, forkedFrom } = row.rest() as unknown as StartedRest;
      return {
        groupId: row.text('group_id'),
        groupSize: row.number('group_size'),
        groupMember: row.number('group_member'),
        environment: row.text('environment'),
        task,
        environmentSeed: row.number('environment_seed'),
        samplingSeed: row.number('sampling_seed'),
        split: row.text('split') as Split,
        agent: row.text('agent'),
        forkedFrom,
      };
    },
  },

  StepRecorded: {
    write(columns, row, payload) {
      columns.observation.set(row, payload.observation);
      columns.action.set(row, payload.action);
      columns.parsed_action.set(row, payload.parsedAction);
      columns.action_valid.set(row, Number(payload.actionValid));
      columns.anchor.set(row, payload.anchor);
      columns.reward.set(row, payload.reward);
      columns.reward_names.set(row, payload.rewardNames);
      columns.reward_values.set(row, payload.rewardValues);
      columns.terminated.set(row, Number(payload.terminated));
      columns.truncated.set(row, Number(payload.truncated));
      columns.kept_prefix_tokens.set(row, payload.keptPrefixTokens);
      columns.token_ids.set(row, payload.tokenIds);
      columns.action_mask.set(row, payload.actionMask);
      columns.token_logprobs.set(row, payload.tokenLogprobs);
      columns.has_raw_logprobs.set(row, Number(payload.tokenRawLogprobs !== null));
      columns.token_raw_logprobs.set(row, payload.tokenRawLogprobs);
      columns.has_entropies.set(row, Number(payload.tokenEntropies !== null));
      columns.token_entropies.set(row, payload.tokenEntropies);
      columns.token_policy_versions.set(row, payload.tokenPolicyVersions);
      if (payload.sampling !== null) {
        columns.temperature.set(row, payload.sampling.temperature);
        columns.top_k.set(row, payload.sampling.topK);
        columns.top_p.set(row, payload.sampling.topP);
        columns.greedy.set(row, Number(payload.sampling.greedy));
        columns.max_new_tokens.set(row, payload.sampling.maxNewTokens);
      }
      columns.engine.set(row, payload.engine);
      columns.model.set(row, payload.model);
      columns.tokenizer_hash.set(row, payload.tokenizerHash);
      columns.logprob_mode.set(row, payload.logprobMode);
      columns.generation_ms.set(row, payload.generationMs);
      columns.environment_ms.set(row, payload.environmentMs);
      columns.snapshot.set(row, payload.snapshot);
      writeRest(columns, row, payload.info);
    },
    read(row) {
      const temperature = row.nullableNumber('temperature');
      return {
        step: row.number('seq') - 1,
        observation: row.text('observation'),
        action: row.text('action'),
        parsedAction: row.nullableText('parsed_action'),
        actionValid: row.flag('action_valid'),
        anchor: row.nullableText('anchor'),
        reward: row.nullableNumber('reward'),
        rewardNames: row.texts('reward_names'),
        rewardValues: row.float64s('reward_values'),
        terminated: row.flag('terminated'),
        truncated: row.flag('truncated'),
        info: row.rest(),
        keptPrefixTokens: row.number('kept_prefix_tokens'),
        sampling:
          temperature === null
            ? null
            : {
                temperature,
                topK: row.number('top_k'),
                topP: row.number('top_p'),
                greedy: row.flag('greedy'),
                maxNewTokens: row.number('max_new_tokens'),
              },
        engine: row.text('engine'),
        model: row.text('model'),
        tokenizerHash: row.text('tokenizer_hash'),
        logprobMode: row.text('logprob_mode') as StepRecorded['logprobMode'],
        generationMs: row.number('generation_ms'),
        environmentMs: row.number('environment_ms'),
        snapshot: row.nullableText('snapshot'),
        tokenIds: row.int32s('token_ids'),
        actionMask: row.uint8s('action_mask'),
        tokenLogprobs: row.float32s('token_logprobs'),
        tokenRawLogprobs: row.flag('has_raw_logprobs') ? row.float32s('token_raw_logprobs') : null,
        tokenEntropies: row.flag('has_entropies') ? row.float32s('token_entropies') : null,
        tokenPolicyVersions: row.int32s('token_policy_versions'),
      };
    },
  },

  EpisodeEnded: {
    write(columns, row, payload) {
      columns.end_reason.set(row, payload.endReason);
      columns.observation.set(row, payload.finalObservation);
      columns.token_ids.set(row, payload.finalTokenIds);
      columns.kept_prefix_tokens.set(row, payload.finalKeptPrefixTokens);
      columns.num_steps.set(row, payload.numSteps);
      columns.return.set(row, payload.return);
      columns.success.set(row, payload.success === null ? null : Number(payload.success));
      columns.num_tokens.set(row, payload.numTokens);
      columns.num_action_tokens.set(row, payload.numActionTokens);
      columns.policy_version_min.set(row, payload.policyVersionMin);
      columns.policy_version_max.set(row, payload.policyVersionMax);
      writeRest(columns, row, { endDetail: payload.endDetail });
    },
    read(row) {
      const { endDetail } = row.rest<{ endDetail: string }>();
      return {
        endReason: row.text('end_reason') as EndReason,
        endDetail,
        finalObservation: row.text('observation'),
        finalTokenIds: row.int32s('token_ids'),
        finalKeptPrefixTokens: row.number('kept_prefix_tokens'),
        numSteps: row.number('num_steps'),
        return: row.nullableNumber('return'),
        success: row.nullableFlag('success'),
        numTokens: row.number('num_tokens'),
        numActionTokens: row.number('num_action_tokens'),
        policyVersionMin: row.number('policy_version_min'),
        policyVersionMax: row.number('policy_version_max'),
      };
    },
  },

  RewardAssigned: {
    write(columns, row, payload) {
      columns.reward_step.set(row, payload.step);
      columns.reward_name.set(row, payload.name);
      columns.reward.set(row, payload.value);
      columns.source.set(row, payload.source);
      writeRest(columns, row, { rationale: payload.rationale });
    },
    read(row) {
      const { rationale } = row.rest<{ rationale: string }>();
      return {
        step: row.nullableNumber('reward_step'),
        name: row.text('reward_name'),
        value: row.nullableNumber('reward'),
        source: row.text('source'),
        rationale,
      };
    },
  },
};
