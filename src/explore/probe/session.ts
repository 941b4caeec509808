import type { ApiError } from '../../errors/api-error.ts';
import { type AnyAccountingError, isAccountingError, isApiError } from '../../errors/guards.ts';
import {
  type ListStatement,
  type NextLink,
  nextLink,
  statementOf,
  withLinks,
} from '../../schemas/list-statement.ts';
import type { ListBody } from '../../schemas/service-forms.ts';
import type { RequestOptions, ResponseMeta } from '../../transport/call-options.ts';
import type { Method } from '../../transport/request.ts';
import { type ExploreClient, listSettings } from '../explore-client.ts';
import { type Row, readListBody } from '../rows.ts';
import { known, unknown } from './finding.ts';
import { ProblemReading } from './problems.ts';
import type { ProbeReport } from './report.ts';

/** A request: a path below `/api/public/v1`, and how it is sent. */
export interface ProbeRequest {
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, string>> | undefined;
  readonly method?: Method | undefined;
  readonly body?: unknown;
  readonly idempotencyKey?: string | undefined;
  /** Instead of the content type of the client. */
  readonly contentType?: string | undefined;
  readonly retry?: RequestOptions['retry'];
  /** Instead of the formats that the client accepts. */
  readonly accept?: string | undefined;
  /** Whether a 404 shows nothing of the form of errors. */
  readonly mayBeUnrouted?: boolean | undefined;
  /** Send it even after an abort: to delete what the probe created. */
  readonly always?: boolean | undefined;
}

/** A response, or an error of the service or the network: a probe learns from both. */
export type ProbeResponse =
  | {
      readonly ok: true;
      readonly status: number;
      readonly body: unknown;
      /** The header `Link`. */
      readonly link: string | undefined;
    }
  | { readonly ok: false; readonly status: number | undefined; readonly error: AnyAccountingError };

/** The rows of a list, or why there are none. */
export type ListResponse =
  | {
      readonly ok: true;
      readonly status: number;
      readonly rows: readonly Row[];
      readonly form: ListBody;
      /** What the response says itself of the rest of the list. */
      readonly stated: ListStatement;
      readonly next: NextLink | undefined;
    }
  | {
      readonly ok: false;
      readonly status: number | undefined;
      readonly code: string;
      /** Undefined for a 2xx that is not a list. */
      readonly error: AnyAccountingError | undefined;
    };

/** Sends the requests of a probe, counts them, and reads from each response what all responses carry. */
export class ProbeSession {
  /** Requests sent, retries included. */
  requests = 0;
  readonly problems = new ProblemReading();
  /** The query parameters that the client sends with each list. */
  readonly parameters: Readonly<Record<string, string>>;
  /** How the client names the number of a page. */
  readonly pageParameter: string;
  readonly #client: ExploreClient;
  readonly #signal: AbortSignal | undefined;
  readonly #onRequest: () => void;
  #clockOffsetMs = 0;
  #limit: number | undefined;

  constructor(client: ExploreClient, signal: AbortSignal | undefined, onRequest: () => void) {
    this.#client = client;
    const { parameters, pageParameter } = listSettings(client);
    this.parameters = parameters;
    this.pageParameter = pageParameter;
    this.#signal = signal;
    this.#onRequest = onRequest;
  }

  /** The time by the service's clock, in ms since the epoch; by that of this machine without a `Date`. */
  get now(): number {
    return Date.now() + this.#clockOffsetMs;
  }

  get quota(): ProbeReport['quota'] {
    const limit = this.#limit;
    const missing = 'no response carried both X-RateLimit headers';
    return { limit: limit === undefined ? unknown(missing) : known(limit, 'X-RateLimit-Limit') };
  }

  /** Rejects with the signal's reason, and with errors that do not come from this package. */
  async send(request: ProbeRequest): Promise<ProbeResponse> {
    const { retry, accept, mayBeUnrouted, always = false, ...rest } = request;
    const headers = accept === undefined ? undefined : { accept };
    const signal = always ? undefined : this.#signal;
    let meta: ResponseMeta | undefined;
    let attempts = 0;
    const onResponse = (received: ResponseMeta) => {
      meta = received;
      attempts = received.attempts;
      this.#read(received);
    };
    try {
      const options = { retry, signal, headers, onResponse };
      const body = await this.#client.request({ ...rest, redactKey: true }, options);
      return { ok: true, status: meta?.status ?? 0, body, link: meta?.headers.link };
    } catch (error) {
      signal?.throwIfAborted();
      if (!isAccountingError(error)) throw error;
      ({ attempts } = error);
      if (isApiError(error) && !mayBeUnrouted) this.problems.seen(error as ApiError, mediaType(meta));
      return { ok: false, status: meta?.status, error };
    } finally {
      this.requests += attempts;
      this.#onRequest();
    }
  }

  /** Requests one page of a collection. */
  async list(
    segment: string,
    query: Readonly<Record<string, string>> = {},
    how: Pick<ProbeRequest, 'retry' | 'accept'> = {},
  ): Promise<ListResponse> {
    const response = await this.send({ path: [segment], query: { ...this.parameters, ...query }, ...how });
    if (!response.ok) return { ...response, code: response.error.code };

    const { status, body, link } = response;
    const list = readListBody(body);
    if (list === undefined) return { ok: false, status, code: 'unexpected_response', error: undefined };
    return {
      ok: true,
      status,
      ...list,
      stated: withLinks(statementOf(body), link),
      next: nextLink(body, link),
    };
  }

  #read({ headers, rateLimit }: ResponseMeta): void {
    const date = Date.parse(headers.date ?? '');
    if (!Number.isNaN(date)) this.#clockOffsetMs = date - Date.now();
    this.#limit = rateLimit?.limit ?? this.#limit;
  }
}

/** 400 and 422 reject the request itself; other errors say nothing about it. */
export function isRejection(response: {
  readonly ok: boolean;
  readonly status?: number | undefined;
}): boolean {
  return !response.ok && (response.status === 400 || response.status === 422);
}

/** The content type without its parameters. */
function mediaType(meta: ResponseMeta | undefined): string | undefined {
  return meta?.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
}
