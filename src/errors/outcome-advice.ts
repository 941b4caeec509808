import type { CallFacts } from './accounting-error.ts';

/** What the service may have done with a write; undefined if it did nothing, and for a GET, which changes nothing. */
export function outcomeAdvice({ method, outcome, idempotencyKey }: CallFacts): string | undefined {
  if (method === 'GET' || (outcome !== 'unknown' && outcome !== 'applied')) return undefined;
  const done = outcome === 'applied' ? 'has carried it out' : 'may have carried it out';
  const repeat = idempotencyKey === undefined ? '' : ': repeat it only under the same idempotencyKey';
  return `The service ${done} (outcome: ${outcome})${repeat}.`;
}
