import type { CollectionName } from '../../collections/index.ts';
import type { Fault } from '../faults/fault.ts';
import type { FaultMatch } from '../faults/fault-rules.ts';
import type { SandboxOptions } from '../options.ts';
import type { Stage } from './stage.ts';

/** What every case says. */
export interface CaseTexts {
  readonly name: string;
  /** One sentence: why real services do this. */
  readonly why: string;
  /** One sentence: how a connector survives it. */
  readonly advice: string;
}

/** A case of reading: a service, and what happens to it in some nights. */
export interface ReadingCase extends CaseTexts {
  readonly service?: SandboxOptions;
  /** Records of each collection at first. @default 45 */
  readonly records?: number;
  /** Before the first night: what the generated records do not have. */
  readonly prepare?: (stage: Stage) => void;
  readonly nights: readonly Night[];
}

/** How often the connector runs in a night, and how that has to end. */
export interface RunsOfNight {
  /**
   * How a run has to end: `well`, `loudly` (it rejects), or `either`.
   * @default 'well'
   */
  readonly ends?: 'well' | 'loudly' | 'either';
  /** `killed`: killed after 3 requests, 6 in the next run, 9 in the one after, until a run ends. @default 'once' */
  readonly runs?: 'once' | 'killed' | 'twice at once' | 'twice in a row';
}

/**
 * One night: the connector runs, and its copy is compared with what the service held meanwhile. The copy is complete
 * after a run that ended well, and never loses a record that it had.
 */
export interface Night extends RunsOfNight {
  /** An hour after the night before. */
  readonly before?: (stage: Stage) => void;
  /** After each response to a list request of a collection, `number` from 1. */
  readonly during?: (stage: Stage, request: { collection: CollectionName; number: number }) => void;
  /** From the beginning of the night to its end. */
  readonly faults?: (stage: Stage) => Faults;
  /** Whether records that were deleted before the run must be gone. */
  readonly deletions?: boolean;
  /** The collections that must be complete although the run failed. */
  readonly completeAnyway?: (stage: Stage) => readonly CollectionName[];
  /** The most responses with status 429. */
  readonly most429s?: number;
}

/** Faults, each with its conditions. */
type Faults = readonly (readonly [Fault, FaultMatch])[];

/** A row that the connector has to bring into the service. */
export interface ProductRow {
  /** The natural key. */
  readonly productNumber: string;
  readonly name: string;
  /** A decimal string. */
  readonly salePrice: string;
}

/** A case of writing: a service, and rows that have to become its products. */
export interface WritingCase extends CaseTexts {
  readonly service?: SandboxOptions;
  /** Before the first night: products that exist already. */
  readonly prepare?: (stage: Stage, rows: readonly ProductRow[]) => void;
  readonly nights: readonly WritingNight[];
}

/** One night: the connector is given rows, and afterwards each has one product with its values. */
export interface WritingNight extends RunsOfNight {
  /** The rows of the night. @default those of the case */
  readonly rows?: (rows: readonly ProductRow[]) => readonly ProductRow[];
  readonly faults?: Faults;
  /** Whether every row has its product although a run failed, apart from locked ones and invalid rows. */
  readonly isComplete?: boolean;
}
