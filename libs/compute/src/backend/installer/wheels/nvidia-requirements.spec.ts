import { expect, it } from 'vitest';
import { parseNvidiaRequirements } from './nvidia-requirements.js';

it('parseNvidiaRequirements: picks the NVIDIA packages of the CUDA extra, with their ranges', () => {
  const metadata = [
    'Name: tensorflow',
    'Requires-Dist: numpy>=1.26.0',
    'Requires-Dist: nvidia-cublas-cu12<13.0,>=12.5.3.2; extra == "and-cuda"',
    'Requires-Dist: nvidia-cudnn-cu12<10.0,>=9.3.0.75; extra == "and-cuda"',
    // The notation of the wheel of 2.19.1.
    "Requires-Dist: nvidia-nccl-cu12 ==2.23.4 ; extra == 'and-cuda'",
    'Requires-Dist: nvidia-other-cu12; extra == "something-else"',
  ].join('\n');
  expect(parseNvidiaRequirements(metadata)).toEqual([
    'nvidia-cublas-cu12<13.0,>=12.5.3.2',
    'nvidia-cudnn-cu12<10.0,>=9.3.0.75',
    'nvidia-nccl-cu12 ==2.23.4',
  ]);
});
