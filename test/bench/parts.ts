import type { PartName } from './goals.ts';
import { cold } from './parts/cold.ts';
import { fixed } from './parts/fixed.ts';
import { growth } from './parts/growth.ts';
import { latency } from './parts/latency.ts';
import { rateLimiter } from './parts/rate-gate.ts';
import { requests } from './parts/requests.ts';
import { sandbox } from './parts/sandbox.ts';
import { size } from './parts/size.ts';
import { validation } from './parts/validation.ts';
import { walk } from './parts/walk.ts';
import type { Part } from './support/part.ts';

/** Each part of the bench, in the order in which they run. */
export const parts: Readonly<Record<PartName, Part>> = {
  requests,
  size,
  validation,
  cold,
  fixed,
  walk,
  growth,
  latency,
  'rate-gate': rateLimiter,
  sandbox,
};
