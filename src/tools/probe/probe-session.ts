import type { ApiError } from '../../errors/api-error.ts';
import { type AnyAccountingError, isAccountingError, isApiError } from '../../errors/guards.ts';
import { CLEARED } from '../../internal/cleared.ts';
import type { ListBody } from '../../schemas/service-forms.ts';
import type { RequestOptions, ResponseMeta } from '../../transport/call-options.ts';
import type { Method } from '../../transport/request.ts';
import { type Row, readListBody } from '../list-body.ts';
import type { ToolsClient } from '../tools-client.ts';
import { BudgetReading } from './budget.ts';
import { ClockReading } from './clock.ts';
import { ProblemReading } from './problem-forms.ts';

/** What was asked: a path below `/api/public/v1`, and how. */
export interface Question {
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, string>> | undefined;
  readonly method?: Method | undefined;
  readonly body?: unknown;
  readonly idempotencyKey?: string | undefined;
  /** Instead of the content type that the client is configured with. */
  readonly contentType?: string | undefined;
  readonly retry?: RequestOptions['retry'];
  /** Asked even after an abort: to put away what was made. */
  readonly always?: boolean | undefined;
}

/** What came back. Errors of the service and of the network are answers too: they are what a probe is after. */
export type Answer =
  | {
      readonly ok: true;
      readonly status: number;
      readonly contentType: string | undefined;
      readonly body: unknown;
    }
  | { readonly ok: false; readonly status: number | undefined; readonly error: AnyAccountingError };

/** A list answer: its rows, or why there are none to look at. */
export type ListAnswer =
  | {
      readonly ok: true;
      readonly status: number;
      readonly rows: readonly Row[];
      readonly form: ListBody;
      readonly contentType: string | undefined;
    }
  | {
      readonly ok: false;
      readonly status: number | undefined;
      readonly code: string;
      /** Undefined for a 2xx that is no list. */
      readonly error: AnyAccountingError | undefined;
    };

/** One conversation with the service: asks, counts, and reads from each answer what all answers carry. */
export class ProbeSession {
  /** Requests that went out, repeated ones included. */
  requests = 0;
  readonly clock = new ClockReading();
  readonly budget = new BudgetReading();
  readonly problems = new ProblemReading();
  readonly #client: ToolsClient;
  readonly #signal: AbortSignal | undefined;
  readonly #onRequest: () => void;

  constructor(client: ToolsClient, signal: AbortSignal | undefined, onRequest: () => void) {
    this.#client = client;
    this.#signal = signal;
    this.#onRequest = onRequest;
  }

  /** Rejects with the signal's reason, and with what is no error of this package's; anything else is an answer. */
  async ask(question: Question): Promise<Answer> {
    const { retry, always = false, ...request } = question;
    const signal = always ? undefined : this.#signal;
    const sentAt = Date.now();
    let meta: ResponseMeta | undefined;
    try {
      const onResponse = (seen: ResponseMeta) => {
        meta = seen;
        this.#read(seen, sentAt);
      };
      const body = await this.#client.request(request, { retry, signal, onResponse, [CLEARED]: true });
      return { ok: true, status: meta?.status ?? 0, contentType: mediaType(meta), body };
    } catch (error) {
      signal?.throwIfAborted();
      if (!isAccountingError(error)) throw error;
      if (isApiError(error)) this.problems.seen(error as ApiError, mediaType(meta));
      return { ok: false, status: meta?.status, error };
    } finally {
      this.requests += meta?.attempts ?? 1;
      this.#onRequest();
    }
  }

  /** One page of a collection. */
  async list(
    segment: string,
    query: Readonly<Record<string, string>> = {},
    how: Pick<Question, 'retry'> = {},
  ): Promise<ListAnswer> {
    const answer = await this.ask({ path: [segment], query, ...how });
    if (!answer.ok) return { ...answer, code: answer.error.code };

    const list = readListBody(answer.body);
    if (list === undefined) {
      return { ok: false, status: answer.status, code: 'unexpected_response', error: undefined };
    }
    const { status, contentType } = answer;
    return { ok: true, status, contentType, ...list };
  }

  #read(meta: ResponseMeta, sentAt: number): void {
    const at = { sentAt, receivedAt: Date.now() };
    this.clock.seen(meta.headers.date, meta.headers.age, at);
    if (meta.rateLimit !== undefined) this.budget.seen(meta.rateLimit, at);
  }
}

/** The content type without its parameters. */
function mediaType(meta: ResponseMeta | undefined): string | undefined {
  return meta?.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
}
