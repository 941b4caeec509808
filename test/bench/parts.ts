import { cold } from './parts/cold.ts';
import { latency } from './parts/latency.ts';
import { lists } from './parts/lists.ts';
import { memory } from './parts/memory.ts';
import { rateLimiter } from './parts/rate-limiter.ts';
import { request } from './parts/request.ts';
import type { Part } from './support/part.ts';

/** Each part of the bench, in the order in which they run. */
export const parts = {
  cold,
  request,
  lists,
  memory,
  latency,
  'rate-limiter': rateLimiter,
} as const satisfies Readonly<Record<string, Part>>;

export type PartName = keyof typeof parts;
export const partNames = Object.keys(parts) as PartName[];
