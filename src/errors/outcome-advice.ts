import type { CallFacts } from './accounting-error.ts';

/** Where to look before a write is repeated; undefined for a GET, which changes nothing. */
export function outcomeAdvice({ method }: CallFacts): string | undefined {
  return method === 'GET' ? undefined : 'See outcome for what the service may have done.';
}
