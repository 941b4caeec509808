import type { CollectionName } from '../../collections/index.ts';
import type { IdForm } from '../id-form.ts';
import type { ListBody } from '../list-body.ts';
import type { BudgetFindings } from './budget.ts';
import type { ClockOffset } from './clock.ts';
import type { Finding } from './finding.ts';
import type { ProblemForm, ProblemTypeForm } from './problem-forms.ts';
import type { WriteFindings } from './write-findings.ts';

/** What became of a filter: applied as documented, answered with an error, or left out in silence. */
export type FilterVerdict = 'honoured' | 'refused' | 'ignored';

/**
 * The order of a list. An order by instants is only named where ids do not explain it; `none` is neither by id nor by
 * an instant that the records show.
 */
export type SeenOrder =
  | 'id-asc'
  | 'id-desc'
  | 'created-asc'
  | 'created-desc'
  | 'updated-asc'
  | 'updated-desc'
  | 'none';

/** How instants are written: `…:05Z`, `…:05+00:00`, `…:05.123Z`, or in another way. */
export type InstantForm = 'seconds' | 'offset' | 'milliseconds' | 'other';

/** What is known of the bounds on `id`. */
export interface IdFilterFindings {
  readonly gt: Finding<FilterVerdict>;
  readonly gte: Finding<FilterVerdict>;
  readonly lt: Finding<FilterVerdict>;
  readonly lte: Finding<FilterVerdict>;
  /** Whether two bounds in one request both hold: the certified walk needs that. */
  readonly together: Finding<boolean>;
}

/** What is known of `id[between]`. */
export interface BetweenFindings {
  readonly verdict: Finding<FilterVerdict>;
  /** What stands between the two bounds. */
  readonly separator: Finding<string>;
  /** Whether both bounds belong to the range. */
  readonly inclusive: Finding<boolean>;
}

/** What is known of `updatedSince`. */
export interface UpdatedSinceFindings {
  readonly verdict: Finding<FilterVerdict>;
  /** Whether a record written at the bound itself is returned (contract: it is). */
  readonly inclusive: Finding<boolean>;
  /** What becomes of a value that is no instant. */
  readonly badValue: Finding<'refused' | 'ignored'>;
}

/** What is known of one collection. */
export interface CollectionFindings {
  readonly collection: CollectionName;
  /** `readable`, or the code of the error that its list was answered with. Only a readable one has `details`. */
  readonly access: string;
  readonly details: CollectionDetails | undefined;
}

/** What the answers of one collection showed. */
export interface CollectionDetails {
  /** Records on the first page. */
  readonly rows: number;
  readonly listBody: ListBody;
  readonly contentType: string | undefined;
  readonly idForm: Finding<IdForm>;
  readonly pageSize: Finding<number>;
  readonly order: Finding<SeenOrder>;
  /** Whether `_page=2` is another page than the first. */
  readonly page: Finding<FilterVerdict>;
  /** How a page past the last one is answered; otherwise the code of an error. */
  readonly afterLastPage: Finding<'empty' | 'not_found' | (string & {})>;
  /** Records of the first page that the second one shows again. */
  readonly repeats: Finding<number>;
  readonly id: IdFilterFindings;
  readonly between: BetweenFindings;
  readonly updatedSince: UpdatedSinceFindings;
  readonly instants: Finding<InstantForm>;
  /** Fields that look like amounts and came as JSON numbers, which have lost digits before anyone can look. */
  readonly moneyAsNumbers: Finding<readonly string[]>;
}

/** An option that follows from what was seen. */
export interface ConfigurationLine {
  /** Whose option it is. */
  readonly of: 'createClient' | 'sync' | 'list';
  /** As it is written: `pagination: 'keyset'`. */
  readonly code: string;
  readonly because: string;
}

/** What {@link probe} learned. Plain JSON. */
export interface ProbeReport {
  /** Where the service is, `/api/public/v1` included. */
  readonly baseUrl: string;
  /** When the probe ended, by the clock of this machine. */
  readonly at: string;
  /** Requests that went out. */
  readonly requests: number;
  /** How far the service's clock is ahead of this machine's. */
  readonly clock: Finding<ClockOffset>;
  /** How many answers came out of a cache, by their `Age`. */
  readonly cachedAnswers: number;
  readonly budget: BudgetFindings;
  readonly problems: {
    /** The form of `type` that all errors share. */
    readonly typeForm: Finding<ProblemTypeForm>;
    /** The content type of a 404. */
    readonly notFound: Finding<string>;
    /** The content type of a 403. */
    readonly forbidden: Finding<string>;
    /** One of each kind that was seen. */
    readonly seen: readonly ProblemForm[];
  };
  readonly collections: readonly CollectionFindings[];
  /** What only writing shows: `unknown` throughout, unless `write` was asked for. */
  readonly writes: WriteFindings;
  /** What follows for the options of the client, each with its reason. */
  readonly configuration: readonly ConfigurationLine[];
}
