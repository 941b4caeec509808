/**
 * One thing learned of the service, with the evidence for it, or the reason why it cannot be known from outside.
 * Nothing here is ever guessed.
 */
export type Finding<T> =
  | {
      readonly known: true;
      readonly value: T;
      /** What was requested and seen; a sentence without its full stop. */
      readonly evidence: string;
    }
  | {
      readonly known: false;
      readonly value?: undefined;
      /** Why it is not known; a sentence without its full stop. */
      readonly reason: string;
    };

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
