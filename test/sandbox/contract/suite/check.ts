import type { ContractClient } from './client.ts';

/** Checks one statement of the specification against a service. */
export interface Check {
  /** The section of the specification and the statement. Unique. */
  readonly name: string;
  /** The collection, if the check exists for each collection. */
  readonly segment?: string;
  /** Throws if the service behaves differently. */
  readonly run: (client: ContractClient) => Promise<void>;
}

/** Creates the checks of a section. */
export function checksOf(section: string) {
  return (title: string, run: Check['run']): Check => ({ name: `${section}: ${title}`, run });
}

/** The same checks for each of some collections. */
export function forEach(segments: readonly string[], make: (segment: string) => Check[]): Check[] {
  return segments.flatMap((segment) => make(segment).map((one) => ({ ...one, segment })));
}
