import {
  type Attributes,
  type Context,
  context,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { isAccountingError } from '../errors/guards.ts';
import type {
  CallErrorEvent,
  CallEvent,
  EndEvent,
  RequestEvent,
  ResponseEvent,
  RetryEvent,
  RunEvent,
  WaitEvent,
} from '../events.ts';
import { callAttributes, HTTP, OWN, serverAttributes } from './attributes.ts';
import type { Instruments } from './instruments.ts';

/** What a call writes to. */
export interface Sinks {
  readonly tracer: Tracer;
  readonly instruments: Instruments;
  /** The caller's own, for every span and every measurement. */
  readonly attributes: Attributes;
}

/** A request that was sent and whose response is not yet read. */
interface OpenRequest {
  readonly span: Span;
  readonly startedAt: number;
  status: number | undefined;
}

interface OpenWait {
  readonly reason: 'rate_limit' | 'retry';
  readonly startedAt: number;
}

/**
 * One call between its first event and its last: a span of its own, of kind INTERNAL as the conventions forbid a
 * second one of kind CLIENT, and below it one CLIENT span for each request that is sent.
 */
export class OpenCall {
  readonly #sinks: Sinks;
  readonly #attributes: Attributes;
  readonly #span: Span;
  readonly #context: Context;
  #requests = 0;
  #request: OpenRequest | undefined;
  #wait: OpenWait | undefined;
  #errorType: string | undefined;

  constructor(event: CallEvent, sinks: Sinks) {
    this.#sinks = sinks;
    this.#attributes = { ...sinks.attributes, ...callAttributes(event) };
    const name = `accounting ${event.method} ${event.template}`;
    const around = context.active();
    const options = { kind: SpanKind.INTERNAL, attributes: { ...this.#attributes, ...part(event) } };
    this.#span = sinks.tracer.startSpan(name, options, around);
    this.#context = trace.setSpan(around, this.#span);
  }

  request(event: RequestEvent): void {
    this.#endWait();
    this.#endRequest();
    const attributes = {
      ...this.#attributes,
      ...part(event),
      // Without the query, because filters may hold the company's data.
      [HTTP.url]: `${event.origin}${event.basePath}${event.path}`,
      ...(this.#requests > 0 ? { [HTTP.resendCount]: this.#requests } : {}),
    };
    const name = `${event.method} ${event.basePath}${event.template}`;
    const options = { kind: SpanKind.CLIENT, attributes };
    this.#requests += 1;
    this.#request = {
      span: this.#sinks.tracer.startSpan(name, options, this.#context),
      startedAt: performance.now(),
      status: undefined,
    };
  }

  response({ status, requestId, rateLimit, origin }: ResponseEvent): void {
    const request = this.#request;
    if (request === undefined) return;

    request.status = status;
    request.span.setAttribute(HTTP.status, status);
    if (requestId !== undefined) request.span.setAttribute(OWN.requestId, requestId);
    if (rateLimit !== undefined) {
      const { limit, remaining } = rateLimit;
      request.span.setAttributes({ [OWN.quota]: limit, [OWN.remaining]: remaining });
      const key = { ...this.#sinks.attributes, ...serverAttributes(origin) };
      this.#sinks.instruments.quota.record(limit, key);
      this.#sinks.instruments.remaining.record(remaining, key);
    }
    // These responses are complete. The body of any other may still fail: it ends with the next event.
    if (status >= 400) this.#endRequest(String(status));
    if (status === 204) this.#endRequest();
  }

  retry({ reason, waitMs }: RetryEvent): void {
    // The conventions name an error response by its status alone.
    const errorType = reason.replace(/^status /, '');
    this.#endRequest(errorType);
    this.#sinks.instruments.retries.add(1, { ...this.#attributes, [HTTP.errorType]: errorType });
    this.#beginWait('retry', waitMs);
  }

  wait({ waitMs }: WaitEvent): void {
    this.#endRequest();
    this.#beginWait('rate_limit', waitMs);
  }

  error({ error }: CallErrorEvent): void {
    this.#endRequest(error.code);
    this.#errorType = error.code;
    this.#span.setAttribute(OWN.outcome, error.outcome);
  }

  end({ attempt, durationMs, waitedMs, result }: EndEvent): void {
    if (result === 'aborted') this.#errorType = 'aborted';
    if (result === 'error') this.#errorType ??= '_OTHER';
    this.#endWait();
    this.#endRequest(this.#errorType);
    this.#span.setAttributes({
      [OWN.attempts]: attempt,
      [OWN.requests]: this.#requests,
      [OWN.waited]: waitedMs / 1000,
    });
    const failed = this.#errorType === undefined ? {} : { [HTTP.errorType]: this.#errorType };
    this.#sinks.instruments.callDuration.record(durationMs / 1000, { ...this.#attributes, ...failed });
    endSpan(this.#span, this.#errorType);
  }

  #endRequest(errorType?: string): void {
    const request = this.#request;
    if (request === undefined) return;

    this.#request = undefined;
    const seen = {
      ...(request.status === undefined ? {} : { [HTTP.status]: request.status }),
      ...(errorType === undefined ? {} : { [HTTP.errorType]: errorType }),
    };
    const seconds = (performance.now() - request.startedAt) / 1000;
    this.#sinks.instruments.requestDuration.record(seconds, { ...this.#attributes, ...seen });
    endSpan(request.span, errorType);
  }

  #beginWait(reason: OpenWait['reason'], waitMs: number | undefined): void {
    this.#endWait();
    this.#wait = { reason, startedAt: performance.now() };
    this.#span.addEvent('accounting.wait', {
      [OWN.waitReason]: reason,
      ...(waitMs === undefined ? {} : { [OWN.waitExpected]: waitMs / 1000 }),
    });
  }

  #endWait(): void {
    if (this.#wait === undefined) return;

    const { reason, startedAt } = this.#wait;
    this.#wait = undefined;
    const seconds = (performance.now() - startedAt) / 1000;
    const attributes = { ...this.#attributes, [OWN.waitReason]: reason };
    this.#sinks.instruments.waitDuration.record(seconds, attributes);
  }
}

/** What distinguishes the calls of a list. In spans alone: in metrics, each value would be a series of its own. */
function part({ query }: CallEvent): Attributes {
  return query === undefined ? {} : { [OWN.query]: query };
}

/** A span around a sync or a push, in whose context its calls are made. */
export async function spanOfRun(
  { name, tenant, collections }: RunEvent,
  work: () => Promise<unknown>,
  { tracer, attributes }: Sinks,
): Promise<void> {
  const around = context.active();
  const own = { [OWN.tenant]: tenant, [OWN.collections]: [...collections] };
  const span = tracer.startSpan(`accounting ${name}`, { attributes: { ...attributes, ...own } }, around);
  const error = await context.with(trace.setSpan(around, span), work);
  if (error !== undefined) endSpan(span, isAccountingError(error) ? error.code : aborted(error));
  else endSpan(span);
}

/** A run rejects with the reason of its signal, which is any value. */
function aborted(reason: unknown): string {
  const name = (reason as Partial<Error> | null)?.name;
  return name === 'AbortError' || name === 'TimeoutError' ? 'aborted' : '_OTHER';
}

/** No message goes into a status: those of the service may quote the company's data. */
function endSpan(span: Span, errorType?: string | undefined): void {
  if (errorType !== undefined) {
    span.setAttribute(HTTP.errorType, errorType);
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}
