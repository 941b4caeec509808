// The pushes that run in this process: one for each tenant of a service.

import { ConcurrentRunError } from '../errors/concurrent-run-error.ts';

/** Where every copy of the package in the process looks. */
const SLOT = Symbol.for('accounting-data-sdk.pushes');

/**
 * Takes the place of the one push of a tenant in this process, and returns a function that leaves it. In other processes
 * the store notices a second one.
 */
export function beginRun(name: string): () => void {
  const holder = globalThis as { [SLOT]?: Set<string> };
  holder[SLOT] ??= new Set();
  const runs = holder[SLOT];
  if (runs.has(name)) {
    throw new ConcurrentRunError('Another push of this tenant is running in this process.', {
      retryable: true,
      hint: 'Wait for it to end.',
    });
  }
  runs.add(name);
  return () => void runs.delete(name);
}
