import type { CollectionName } from '../../collections/index.ts';
import type { SandboxOptions } from '../options.ts';
import type { During, Stage } from './stage.ts';

/** A mistake of connectors: a service that shows it, and what happens there in some nights. */
export interface Case {
  readonly name: string;
  /** One sentence: why real services do this. */
  readonly why: string;
  /** One sentence: how a connector survives it. */
  readonly advice: string;
  readonly service?: SandboxOptions;
  /** Records of each collection at first. @default 23 if the connector reads, 8 if it writes */
  readonly records?: number;
  readonly nights: readonly Night[];
}

/**
 * One night: the connector runs. If it reads, its copy is compared with what the service held meanwhile; if it writes,
 * each of its rows must have one product. That is complete after a run that ended well; no run loses or doubles records.
 */
export interface Night {
  /** Changes records, and adds faults that end with the night. `rows` are those of the case that a connector writes. */
  readonly before?: (stage: Stage, rows: readonly ProductRow[]) => unknown;
  readonly during?: During;
  /** `killed`: killed after 3 requests, 6 in the next run, 9 in the one after, until a run ends. @default 'once' */
  readonly runs?: 'once' | 'killed' | 'twice at once' | 'twice in a row';
  /** How a run has to end: `well`, `loudly` (it rejects), or `either`. @default 'well' */
  readonly ends?: 'well' | 'loudly' | 'either';
  /** The collections that must be complete although the run failed. */
  readonly completeAnyway?: (stage: Stage) => readonly CollectionName[];
  /** Whether records that were deleted before the run must be gone. */
  readonly deletions?: boolean;
  /** The most responses with status 429. */
  readonly most429s?: number;
  /** The rows to write. @default those of the case */
  readonly rows?: (rows: readonly ProductRow[]) => readonly ProductRow[];
}

/** A night without changes and faults. */
export const QUIET: Night = {};

/** A row that the connector has to bring into the service. */
export interface ProductRow {
  /** The natural key. */
  readonly productNumber: string;
  readonly name: string;
  /** A decimal string. */
  readonly salePrice: string;
}
