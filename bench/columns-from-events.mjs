/** Episode events in memory → the columns that the store's reader would return. The peer loop's stand-in for log and store. */

const END_REASONS = ['terminated', 'truncated', 'abandoned'];

export function columnsFromEvents(episodeIds, eventsByEpisode) {
  const steps = [];
  const finals = [];
  const stepOffsets = new Int32Array(episodeIds.length + 1);
  const endReasons = new Uint8Array(episodeIds.length);
  const successes = new Int8Array(episodeIds.length);
  const groupIds = [];
  episodeIds.forEach((episodeId, e) => {
    for (const { kind, payload } of eventsByEpisode.get(episodeId)) {
      if (kind === 'EpisodeStarted') groupIds.push(payload.groupId);
      else if (kind === 'StepRecorded') steps.push(payload);
      else if (kind === 'EpisodeEnded') {
        endReasons[e] = END_REASONS.indexOf(payload.endReason);
        successes[e] = payload.success === null ? -1 : Number(payload.success);
        finals.push(payload);
      }
    }
    stepOffsets[e + 1] = steps.length;
  });
  const tokenOffsets = offsets(steps.map((step) => step.tokenIds.length));
  const finalTokenOffsets = offsets(finals.map((final) => final.finalTokenIds.length));
  const join = (Type, rows, rowOffsets, column) => {
    const result = new Type(rowOffsets[rows.length]);
    rows.forEach((row, i) => result.set(row[column], rowOffsets[i]));
    return result;
  };
  return {
    episodeIds,
    groupIds,
    endReasons,
    successes,
    stepOffsets,
    steps: Int32Array.from(steps, (step) => step.step),
    rewards: Float64Array.from(steps, (step) => step.reward ?? Number.NaN),
    anchors: steps.map((step) => step.anchor),
    actionValid: Uint8Array.from(steps, (step) => Number(step.actionValid)),
    keptPrefixTokens: Int32Array.from(steps, (step) => step.keptPrefixTokens),
    temperatures: Float32Array.from(steps, (step) => step.sampling?.temperature ?? Number.NaN),
    greedy: Uint8Array.from(steps, (step) => Number(step.sampling?.greedy ?? false)),
    tokenOffsets,
    tokenIds: join(Int32Array, steps, tokenOffsets, 'tokenIds'),
    actionMask: join(Uint8Array, steps, tokenOffsets, 'actionMask'),
    tokenLogprobs: join(Float32Array, steps, tokenOffsets, 'tokenLogprobs'),
    tokenPolicyVersions: join(Int32Array, steps, tokenOffsets, 'tokenPolicyVersions'),
    finalTokenOffsets,
    finalTokenIds: join(Int32Array, finals, finalTokenOffsets, 'finalTokenIds'),
    finalKeptPrefixTokens: Int32Array.from(finals, (final) => final.finalKeptPrefixTokens),
  };
}

function offsets(lengths) {
  const result = new Int32Array(lengths.length + 1);
  lengths.forEach((length, i) => (result[i + 1] = result[i] + length));
  return result;
}
