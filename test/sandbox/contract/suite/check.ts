import { Probe } from './probe.ts';
import type { Need, Target } from './target.ts';

/** Holds a service against one thing that the contract says. */
export interface Check {
  /** The section of the contract, and what holds. Unique. */
  readonly name: string;
  readonly section: string;
  readonly needs: readonly Need[];
  /** The collection, where the same check is there for each. */
  readonly segment?: string;
  /** Throws where the service does otherwise. */
  readonly run: (probe: Probe) => Promise<void>;
}

/** A check of a section. */
export function check(section: string, holds: string, run: Check['run'], needs: readonly Need[] = []): Check {
  return { name: `${section}: ${holds}`, section, needs, run };
}

/** The same checks for each of some collections. */
export function forEach(segments: readonly string[], make: (segment: string) => Check[]): Check[] {
  return segments.flatMap((segment) => make(segment).map((one) => ({ ...one, segment })));
}

/** Runs a check and clears up behind it, also when it failed. */
export async function runCheck({ run }: Check, target: Target): Promise<void> {
  const probe = new Probe(target);
  try {
    await run(probe);
  } finally {
    await probe.clearUp();
  }
}
