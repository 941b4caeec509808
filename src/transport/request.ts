import type { AnyAccountingError } from '../errors/guards.ts';
import type { RateLimit } from '../schemas/rate-limit.ts';
import type { CallSettings, RequestOptions, RunCallOptions } from './call-options.ts';

/** The method of a request. */
export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** What a 2xx must contain. */
export type Expected<T> =
  /** A JSON body; `read` turns it into the value or throws a ShapeError. */
  | {
      readonly kind: 'json';
      readonly read: (body: unknown) => T | Promise<T>;
      /** A response without a body is read as `undefined`. */
      readonly mayBeEmpty?: boolean;
      /** Which 404 is an empty list: one that the service sends as JSON, or any. */
      readonly emptyIf404?: 'json' | 'any' | undefined;
      /** The value with `clear` applied to strings in which the service may echo the key. */
      cleared?(value: T, clear: (text: string) => string): T;
    }
  /** Nothing: any 2xx will do. `check` throws a ShapeError for a JSON body that shows something else. */
  | { readonly kind: 'nothing'; readonly value: T; readonly check?: (body: unknown) => void };

/** One logical request: what is sent, and what response is expected. */
export interface ApiRequest<T> {
  readonly method: Method;
  /** Path segments under `/api/public/v1`, not yet encoded; or one that is encoded already. */
  readonly path: readonly string[] | string;
  /** The path with placeholders, such as `/products/{id}`: for spans and metrics. */
  readonly template: string;
  readonly query?: readonly (readonly [name: string, value: string])[] | undefined;
  /** The page or the bounds of ids that a list requests, for errors and events. */
  readonly shownQuery?: string | undefined;
  /** JSON: the same bytes on every attempt. */
  readonly body?: string | undefined;
  /** Of the body, instead of the configured one. */
  readonly contentType?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly expected: Expected<T>;
  /** Whether the client has found a record with an id like the one that is requested. */
  readonly formWasFound?: (() => boolean) | undefined;
  /** Whether an error is what the caller asks for, such as that a record is missing: it is not reported as a failure. */
  readonly isResult?: ((error: AnyAccountingError) => boolean) | undefined;
  /** The options of this call, every default applied. */
  readonly settings: CallSettings;
  readonly options: Pick<RunCallOptions, 'signal' | 'headers' | 'onResponse'> &
    Omit<RunCallOptions, keyof RequestOptions>;
}

/** A 2xx that could be read. */
export interface ApiResponse<T> {
  readonly value: T;
  readonly rateLimit: RateLimit | undefined;
  /** The `Date` header less `Age`; undefined if there is none. Read when it is used: only lists use it. */
  readonly serverTime: () => Date | undefined;
  /** A response header; undefined if there is none. */
  readonly header: (name: string) => string | undefined;
  /** Every header by its name in lower case, without the key. */
  readonly headers: () => Readonly<Record<string, string>>;
  /** The local clock just before the request of this response was sent, in ms since the epoch. */
  readonly requestedAt: number;
  /** From then until its status and headers arrived, in ms of a clock that is never set. */
  readonly durationMs: number;
}

/** What a collection sees of the network. */
export interface Transport {
  /** Rejects with an AccountingError, or with the signal's own reason. */
  send<T>(request: ApiRequest<T>): Promise<ApiResponse<T>>;
  /** The key of the next call. */
  askForKey(): Promise<string>;
  /** A digest of the service's origin and a key. */
  digestOf(key: string, salt: string): Promise<string>;
  /** The quota of the key as last reported to this client. */
  readonly rateLimit: RateLimit | undefined;
}
