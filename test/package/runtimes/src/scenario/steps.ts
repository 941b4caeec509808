import { call } from './call.ts';
import { broken, errors } from './errors.ts';
import { gate } from './gate.ts';
import type { StepName } from './outcome.ts';
import { abort, walk } from './reading.ts';
import { syncing } from './sync.ts';
import { create } from './writing.ts';

/** The steps. Each takes the URL at which books are ordered, and resolves to what it has seen. */
export const steps: Readonly<Record<StepName, (orders: string) => Promise<string>>> = {
  walk,
  create,
  errors,
  broken,
  abort,
  gate: (orders) => gate(orders, call),
  sync: syncing,
};
