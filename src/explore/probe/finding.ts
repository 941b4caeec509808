import type { Finding } from './report.ts';

export function known<T>(value: T, evidence: string): Finding<T> {
  return { known: true, value, evidence };
}

export function unknown(reason: string): Finding<never> {
  return { known: false, reason };
}

/** Several findings that are unknown for one reason. */
export function allUnknown<Name extends string>(
  reason: string,
  names: readonly Name[],
): Readonly<Record<Name, Finding<never>>> {
  const entries = names.map((name) => [name, unknown(reason)]);
  return Object.fromEntries(entries) as Record<Name, Finding<never>>;
}

/** The evidence of a finding, or the reason why it is unknown. */
export function explanationOf(finding: Finding<unknown>): string {
  return finding.known ? finding.evidence : finding.reason;
}
