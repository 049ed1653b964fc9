/**
 * The inner loops of `gae` and `ppo` of `@retrace/algorithms` alone, without a look at what they are given: what is left to pay
 * for checks is the difference.
 */

export function uncheckedGae({ offsets, rewards, values, gamma, lambda, advantages, returns }) {
  const decay = gamma * lambda;
  for (let episode = 0; episode + 1 < offsets.length; episode++) {
    let nextValue = 0;
    let advantage = 0;
    for (let t = offsets[episode + 1] - 1; t >= offsets[episode]; t--) {
      const value = values[t];
      advantage = rewards[t] + gamma * nextValue - value + decay * advantage;
      nextValue = value;
      advantages[t] = advantage;
      returns[t] = advantage + value;
    }
  }
  return { advantages, returns };
}

export function uncheckedPpo({
  logprobs,
  proximalLogprobs,
  advantages,
  weights,
  clipLow,
  clipHigh,
  dualClip,
  tokenLosses,
  gradients,
}) {
  const least = Float64Array.of(-20, Math.log1p(-clipLow));
  const most = Float64Array.of(Math.log1p(clipHigh), Math.log(dualClip));
  const signBits = new Int32Array(advantages.buffer, advantages.byteOffset, advantages.length);
  tokenLosses.fill(0);
  gradients.fill(0);
  let loss = 0;
  let numTokens = 0;
  let numClipped = 0;
  let sumOfDifferences = 0;
  for (let t = 0; t < logprobs.length; t++) {
    const difference = logprobs[t] - proximalLogprobs[t];
    const advantage = advantages[t];
    const weight = weights[t];
    const sign = signBits[t] >>> 31;
    let clipped = 0;
    if (difference >= least[sign] && difference <= most[sign]) {
      const tokenLoss = -advantage * Math.exp(difference);
      tokenLosses[t] = tokenLoss;
      gradients[t] = weight * tokenLoss;
      loss += weight * tokenLoss;
    } else {
      const held = difference < least[sign] ? least[sign] : most[sign];
      const tokenLoss = -advantage * Math.exp(held);
      tokenLosses[t] = tokenLoss;
      loss += weight * tokenLoss;
      clipped = Number(advantage !== 0 && Math.abs(held) < 20);
    }
    if (weight !== 0) {
      numTokens += 1;
      numClipped += clipped;
      sumOfDifferences += difference;
    }
  }
  return { loss, tokenLosses, gradients, numTokens, numClipped, sumOfDifferences };
}
