import type { RateLimit } from '../schemas/rate-limit.ts';
import type { CallOptions, CallSettings, RequestOptions, ResponseMeta } from './call-options.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** What is due in a 2xx. */
export type Expected<T> =
  /** A JSON body; `read` turns it into the value or throws a ShapeError. */
  | {
      readonly kind: 'json';
      readonly read: (body: unknown) => T | Promise<T>;
      /** An answer without a body is read as `undefined`. */
      readonly mayBeEmpty?: boolean;
      /** The value with what it says of the answer cleared of the key, text by text: the service may echo it. */
      cleared?(value: T, clear: (text: string) => string): T;
    }
  /** Nothing: any 2xx will do. */
  | { readonly kind: 'nothing'; readonly value: T };

/** One logical request: what goes over the wire, and what is due in return. */
export interface ApiRequest<T> {
  readonly method: Method;
  /** Path segments under `/api/public/v1`, not yet encoded; or one that is encoded already. */
  readonly path: readonly string[] | string;
  /** The path with placeholders, such as `/products/{id}`: for spans and metrics. */
  readonly template: string;
  readonly query?: readonly (readonly [name: string, value: string])[] | undefined;
  /** JSON text: the same bytes on every attempt. */
  readonly body?: string | undefined;
  /** Of the body, in the place of the configured one. */
  readonly contentType?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly expected: Expected<T>;
  /** Background walks let interactive calls pass in the rate gate. */
  readonly priority: 'interactive' | 'background';
  /** The limits of this call, every default applied. */
  readonly settings: CallSettings;
  readonly options: Omit<RequestOptions, keyof CallOptions>;
}

/** A 2xx that could be read. */
export interface Answer<T> {
  readonly value: T;
  readonly meta: ResponseMeta;
  /** The `Date` header less `Age`; undefined where there is none. */
  readonly serverTime: Date | undefined;
  /** The local clock just before the request of this answer went out, in ms since the epoch. */
  readonly requestedAt: number;
  /** From then until its status and headers were there, in ms, by a clock that nobody sets. */
  readonly durationMs: number;
}

/** What a resource sees of the network. */
export interface Transport {
  /** Rejects with an AccountingError, or with the signal's own reason. */
  send<T>(request: ApiRequest<T>): Promise<Answer<T>>;
  /** The budget of the key as last reported to this client. */
  readonly rateLimit: RateLimit | undefined;
}
