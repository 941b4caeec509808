import type { CollectionName } from '../../collections/index.ts';
import type { ListBody, ListOrder, TIMESTAMP_FORMS } from '../../schemas/service-forms.ts';
import type { SandboxOptions } from '../../testing/options.ts';
import type { IdForm } from '../ids.ts';

/** Something learned about the service with its evidence, or the reason why it is unknown. Never a guess. */
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
      /** Why it is unknown; a sentence without its full stop. */
      readonly reason: string;
    };

/** How the service treats a filter: applies it, rejects the request, or returns everything. */
export type FilterVerdict = 'honoured' | 'rejected' | 'ignored';

/** How timestamps are written: `…:05Z`, `…:05+00:00`, `…:05.123Z`, or in another way. */
export type TimestampForm = (typeof TIMESTAMP_FORMS)[number] | 'other';

/** Findings about the bounds on `id`. */
export interface IdFilterFindings {
  readonly gt: Finding<FilterVerdict>;
  readonly gte: Finding<FilterVerdict>;
  readonly lt: Finding<FilterVerdict>;
  readonly lte: Finding<FilterVerdict>;
  /** Whether two bounds hold in one request: keyset pagination needs that. */
  readonly together: Finding<boolean>;
  /** A bound above int4 (2,147,483,647); `server_error` if the service cannot store it. Requested of one collection. */
  readonly large: Finding<FilterVerdict | 'server_error'>;
}

/** Findings about `updatedSince`. */
export interface UpdatedSinceFindings {
  readonly verdict: Finding<FilterVerdict>;
  /** How a value that is not a timestamp is treated. */
  readonly invalidValue: Finding<'rejected' | 'ignored'>;
  /** Whether a bound with an offset such as `-12:00` is accepted; a sync writes its bounds so. */
  readonly offset: Finding<'accepted' | 'rejected'>;
  /**
   * `local` if the service ignores the offset of the bound; `utc` if it converts it. Unknown if it compares local times and
   * shows them in UTC.
   */
  readonly compares: Finding<'utc' | 'local'>;
}

/** Findings about one collection. */
export interface CollectionFindings {
  readonly collection: CollectionName;
  /**
   * `readable`, `not_acceptable` (406: the service has none of the formats that the client accepts), or the code of the
   * error that its list returned. Only a readable one has `details`.
   */
  readonly access: string;
  readonly details: CollectionDetails | undefined;
}

/** Findings about a readable collection. */
export interface CollectionDetails {
  /** Records on the first page. */
  readonly rows: number;
  readonly listBody: ListBody;
  readonly idForm: Finding<IdForm>;
  /** Whether ids are strings, or integers as JSON numbers; `unreadable` if the client can read some of them in neither way. */
  readonly idType: Finding<'strings' | 'numbers' | 'unreadable'>;
  /** Whether a request for the id of a listed record finds it. Of all ids, one with the most kinds of characters is tried. */
  readonly byId: Finding<'found' | 'not_found'>;
  readonly pageSize: Finding<number>;
  /** Whether one of the first pages has fewer records than another although more follow: the service removed some. */
  readonly shortPages: Finding<boolean>;
  /** By timestamps only if ids do not explain it; `none` is neither by id nor by a timestamp that records show. */
  readonly order: Finding<ListOrder>;
  /** Every order that the records can have; `order` is the first of them. */
  readonly orders: Finding<readonly ListOrder[]>;
  /** Whether `listOrder: 'id'` saves requests: ids ascend and are sparse, and a record that was edited later comes before others. */
  readonly sortedById: Finding<boolean>;
  /** Whether page 2 is another than the first, by any name of the parameter. */
  readonly page: Finding<FilterVerdict>;
  /** The name of the parameter with the page number. */
  readonly pageParameter: Finding<string>;
  /** Where responses have a link to the next page. */
  readonly nextLink: Finding<'header' | 'body'>;
  /** Whether a list is in JSON-LD if `Accept` names that alone. Requested if no page parameter was found without it. */
  readonly alsoJsonLd: Finding<boolean>;
  /** How the first response says that it is the whole list: without a link to a next page, or by a total. */
  readonly statesEnd: Finding<'links' | 'total' | false>;
  /** Whether a page is larger with `itemsPerPage`. Requested of one collection. */
  readonly pageSizeParameter: Finding<FilterVerdict>;
  /** The response to a page after the last one: an empty list, or the code of an error. */
  readonly afterLastPage: Finding<'empty' | 'not_found' | (string & {})>;
  /** Records of the first pages that were on an earlier page: a sign of a list sorted by something that many share. */
  readonly repeats: Finding<number>;
  readonly id: IdFilterFindings;
  /** What stands between the two bounds of `id[between]`. */
  readonly betweenSeparator: Finding<string>;
  readonly updatedSince: UpdatedSinceFindings;
  readonly timestamps: Finding<TimestampForm>;
  /** Offsets other than zero in createdAt and updatedAt. */
  readonly offsets: Finding<readonly string[]>;
  /** Whether fields without a value are `null` or missing. */
  readonly nullFields: Finding<'sent' | 'omitted'>;
  /** Whether records are JSON-LD, with `@id`. */
  readonly jsonLd: Finding<boolean>;
  /** Fields that hold IRIs of other records, such as `/api/public/v1/accounts/2`. */
  readonly iriFields: Finding<readonly string[]>;
  /** Fields that look like amounts and came as JSON numbers, which may have lost digits. */
  readonly moneyAsNumbers: Finding<readonly string[]>;
}

/** Findings that need writes. */
export interface WriteFindings {
  /** Status of a create. */
  readonly createStatus: Finding<number>;
  /** The content type that a create needs: the first one without a 415. */
  readonly createContentType: Finding<string>;
  /** The content type that an update needs. */
  readonly updateContentType: Finding<string>;
  /** Whether a cleared field is `null` or missing in the response to an update. */
  readonly nullFields: Finding<'sent' | 'omitted'>;
  /** Fields that the service requires, if it rejected the draft. */
  readonly requiredFields: Finding<readonly string[]>;
  /** The same Idempotency-Key and body again: the first response, an error by its code, or a second record. */
  readonly replay: Finding<'stored' | 'second_record' | (string & {})>;
  /** The same Idempotency-Key with another body. */
  readonly differentBody: Finding<'stored' | 'rejected' | 'second_record' | (string & {})>;
  /** How long after its create a record could be read by its id, in ms; 0 if the first read found it. */
  readonly foundAfterMs: Finding<number>;
  /** How long after its create a list showed a record, in ms; 0 if the first list did. */
  readonly listedAfterMs: Finding<number>;
  /** The longer of both, or the one that is known. */
  readonly visibleAfterMs: Finding<number>;
  /** Status of an update. */
  readonly updateStatus: Finding<number>;
  /** Digits after the point of an amount in a response. */
  readonly moneyDigits: Finding<number | 'as-sent'>;
  /** How a field that the service does not know is treated. */
  readonly unknownFields: Finding<'ignored' | 'rejected' | 'kept'>;
  /** Status of a delete. */
  readonly deleteStatus: Finding<number>;
  /** Ids of products that the probe created and could not delete. */
  readonly leftBehind: readonly string[];
}

/** An option that follows from the findings. */
export interface ProfileLine {
  /** Whose option it is: of `createClient`, `sync` or `createSandbox`. */
  readonly of: keyof ServiceProfile;
  /** Its name; a part of an option after a dot, such as `contentTypes.update`. */
  readonly name: string;
  /** JSON. */
  readonly value: unknown;
  /** What was requested and seen; a sentence without its full stop. */
  readonly reason: string;
}

type PaginationName = 'page' | 'keyset' | 'none' | 'link';

/** Options that fit a service. What is unknown is left out. */
export interface ServiceProfile {
  /** For `createClient`. */
  readonly client: {
    /** For all collections, or for those that differ. */
    pagination?: PaginationName | { readonly [Name in CollectionName]?: PaginationName };
    listOrder?: 'id';
    afterLastPage?: 'empty' | 'not_found';
    pageParameter?: string;
    parameters?: Readonly<Record<string, string>>;
    validation?: 'report';
    ids?: 'numbers';
    bareNotFound?: 'missing';
    contentTypes?: { create?: string; update?: string };
    retry?: { creates: false };
  };
  /** For `sync`. */
  readonly sync: { lookbackMs?: number };
  /** For `createSandbox`, which then behaves as the service does. */
  readonly sandbox: SandboxOptions;
}

/** What {@link probe} learned. Plain JSON. */
export interface ProbeReport extends ServiceProfile {
  /** Where the service is, `/api/public/v1` included. */
  readonly baseUrl: string;
  /** When the probe ended, by the clock of this machine. */
  readonly at: string;
  /** Requests sent, retries included. */
  readonly requests: number;
  readonly quota: {
    /** Requests in a window, as the service reports it. */
    readonly limit: Finding<number>;
  };
  readonly problems: {
    /** The content type of a 404. */
    readonly notFound: Finding<string>;
    /** Whether a 404 comes without a problem document, so that a wrong base URL would look the same. */
    readonly bareNotFound: Finding<boolean>;
  };
  readonly collections: readonly CollectionFindings[];
  /** All unknown unless `write` was given. */
  readonly writes: WriteFindings;
  /** The options that follow, each with its reason. */
  readonly profile: readonly ProfileLine[];
  /** Sentences about what code that uses the client must expect. */
  readonly advice: readonly string[];
}
