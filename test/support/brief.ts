import { isAccountingError } from 'accounting-data-sdk';

const isEmpty = (value: unknown) =>
  value === undefined ||
  value === false ||
  value === 0 ||
  value === '' ||
  (typeof value === 'object' && value !== null && !(value instanceof Error) && !(value instanceof Date)
    ? Object.keys(value).length === 0
    : false);

/** A value in one line, without its members that are empty, false or 0: for texts that a person reads. */
export function brief(value: unknown): string {
  if (value instanceof Error) return `<${briefError(value)}>`;
  if (value instanceof Date) return value.toISOString().replace('2026-01-31T', '').replace('.000Z', '');
  if (Array.isArray(value)) return `[${value.map(brief).join(', ')}]`;
  if (typeof value === 'number') return `${Math.round(value * 100) / 100}`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? String(value);
  const members = Object.entries(value).filter(([, member]) => !isEmpty(member));
  return `{${members.map(([name, member]) => `${name}: ${brief(member)}`).join(', ')}}`;
}

/** What an error says, and the facts that its message does not show. */
function briefError(error: Error): string {
  if (!isAccountingError(error)) return `${error.name}: ${error.message}`;
  const { code, message, outcome, attempts, retryable, cause } = error;
  const facts = [
    outcome === 'not_sent' ? '' : outcome,
    attempts > 0 ? `attempts ${attempts}` : '',
    retryable ? 'retryable' : '',
  ].filter((fact) => fact !== '');
  return `${code}: ${message}${facts.length > 0 ? ` (${facts.join(', ')})` : ''}${cause instanceof Error ? ` ← ${briefError(cause)}` : ''}`;
}
