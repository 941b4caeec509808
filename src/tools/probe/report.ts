import type { CollectionName } from '../../collections/index.ts';
import type { ListBody, ListOrder, ProblemTypeForm, TIMESTAMP_FORMS } from '../../schemas/service-forms.ts';
import type { IdForm } from '../id-form.ts';
import type { BudgetFindings } from './budget.ts';
import type { ClockOffset } from './clock.ts';
import type { Finding } from './finding.ts';
import type { ProblemForm } from './problem-forms.ts';
import type { WriteFindings } from './write-findings.ts';

/** What became of a filter: applied as documented, answered with an error, or left out in silence. */
export type FilterVerdict = 'honoured' | 'rejected' | 'ignored';

/** How instants are written: `…:05Z`, `…:05+00:00`, `…:05.123Z`, or in another way. */
export type InstantForm = (typeof TIMESTAMP_FORMS)[number] | 'other';

/** What becomes of a bound beyond int4 (2,147,483,647): `server_error` if the service cannot store it. */
export type LargeBound = FilterVerdict | 'server_error';

/** What is known of the bounds on `id`. */
export interface IdFilterFindings {
  readonly gt: Finding<FilterVerdict>;
  readonly gte: Finding<FilterVerdict>;
  readonly lt: Finding<FilterVerdict>;
  readonly lte: Finding<FilterVerdict>;
  /** Whether two bounds in one request both hold: keyset pagination needs that. */
  readonly together: Finding<boolean>;
  /** Requested of one collection only. */
  readonly large: Finding<LargeBound>;
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
  /** What becomes of a value that is not a timestamp. */
  readonly badValue: Finding<'rejected' | 'ignored'>;
  /**
   * What the bound is compared with, if records show a time: `instant`, or `local` for a service that ignores the
   * offset of the bound.
   */
  readonly compares: Finding<'instant' | 'local'>;
  /**
   * How many minutes the times that the filter compares are ahead of UTC, if it compares local times: `-300` for a
   * service in New York. Requested of one collection only.
   */
  readonly shiftMinutes: Finding<number>;
}

/** What is known of one collection. */
export interface CollectionFindings {
  readonly collection: CollectionName;
  /**
   * `readable`, `not_acceptable` (406: the service has none of the formats that the client accepts), or the code of the
   * error that its list returned. Only a readable one has `details`.
   */
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
  /** Whether one of the first pages is shorter than another one although more follow: rows were removed from it. */
  readonly shortPages: Finding<boolean>;
  /** What keyset pagination will say of its completeness: `Page.complete`. */
  readonly complete: Finding<'certain' | 'likely'>;
  /** By timestamps only if ids do not explain it; `none` is neither by id nor by a timestamp that records show. */
  readonly order: Finding<ListOrder>;
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
  /** Offsets other than zero that createdAt and updatedAt show. */
  readonly offsets: Finding<readonly string[]>;
  /** Whether fields without a value are `null` or missing. */
  readonly nullFields: Finding<'sent' | 'omitted'>;
  /** Fields that hold IRIs of other records, such as `/api/public/v1/accounts/2`. */
  readonly iriFields: Finding<readonly string[]>;
  /** Fields that look like amounts and came as JSON numbers, which have lost digits before anyone can look. */
  readonly moneyAsNumbers: Finding<readonly string[]>;
}

/** An option that follows from what was seen. */
export interface ConfigurationLine {
  /** Whose option it is. */
  readonly of: 'createClient' | 'sync' | 'list';
  /** As it is written: `pagination: 'keyset'`. */
  readonly code: string;
  readonly reason: string;
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
    /** Whether a 404 comes without a problem document, so that a wrong base URL would look the same. */
    readonly bareNotFound: Finding<boolean>;
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
  /** What follows for the code that uses the client: sentences. */
  readonly advice: readonly string[];
}
