import type { Finding } from './report.ts';

export function known<T>(value: T, evidence: string): Finding<T> {
  return { known: true, value, evidence };
}

export function unknown(reason: string): Finding<never> {
  return { known: false, reason };
}

/** The evidence, or the reason. */
export function explanationOf(finding: Finding<unknown>): string {
  return finding.known ? finding.evidence : finding.reason;
}
