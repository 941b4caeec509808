import type { ResolvedSandboxOptions } from '../resolve-options.ts';

/** An instant as a record shows it. */
export function showInstant(ms: number, form: ResolvedSandboxOptions['timestamps']): string {
  const text = new Date(ms).toISOString();
  if (form === 'milliseconds') return text;
  return text.slice(0, 19) + (form === 'offset' ? '+00:00' : 'Z');
}

/**
 * An instant at the precision of the books. With whole seconds both sides of `updatedSince` lose their fraction, so
 * that everything written in the second of the bound is returned again (contract: updatedSince).
 */
export function atPrecision(ms: number, form: ResolvedSandboxOptions['timestamps']): number {
  return form === 'milliseconds' ? ms : Math.floor(ms / 1000) * 1000;
}
