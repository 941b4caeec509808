import { type Attributes, context, type Span, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';
import { isAccountingError } from '../errors/guards.ts';
import type {
  CallErrorEvent,
  CallEvent,
  EndEvent,
  ResponseEvent,
  RetryEvent,
  RunEnd,
  RunEvent,
  WaitEvent,
} from '../events.ts';
import type { PushReport } from '../reports/push-report.ts';
import type { SyncReport } from '../reports/sync-report.ts';
import { callAttributes, HTTP, OWN, serverAttributes } from './attributes.ts';
import type { Instruments } from './instruments.ts';

/** What a call writes to. */
export interface Sinks {
  readonly tracer: Tracer;
  readonly instruments: Instruments;
  /** The caller's own, for every span and every measurement. */
  readonly attributes: Attributes;
}

interface OpenWait {
  readonly reason: 'rate_limit' | 'retry';
  readonly startedAt: number;
}

/** One call between its first event and its last. Its requests are spans of the instrumentation of `fetch`, if there is one. */
export class OpenCall {
  readonly #sinks: Sinks;
  readonly #attributes: Attributes;
  readonly #span: Span;
  #requests = 0;
  #wait: OpenWait | undefined;
  #errorType: string | undefined;

  constructor(event: CallEvent, sinks: Sinks) {
    this.#sinks = sinks;
    this.#attributes = { ...sinks.attributes, ...callAttributes(event) };
    // The page or the bounds are in spans alone: in metrics, each value would be a series of its own.
    const own = event.query === undefined ? {} : { [OWN.query]: event.query };
    const name = `accounting ${event.method} ${event.template}`;
    const attributes = { ...this.#attributes, ...own };
    this.#span = sinks.tracer.startSpan(name, { attributes }, context.active());
  }

  request(): void {
    this.#endWait();
    this.#requests += 1;
  }

  response({ status, requestId, rateLimit, origin }: ResponseEvent): void {
    this.#span.setAttribute(HTTP.status, status);
    if (requestId !== undefined) this.#span.setAttribute(OWN.requestId, requestId);
    if (rateLimit === undefined) return;
    const { limit, remaining } = rateLimit;
    this.#span.setAttributes({ [OWN.quota]: limit, [OWN.remaining]: remaining });
    const key = { ...this.#sinks.attributes, ...serverAttributes(origin) };
    this.#sinks.instruments.quota.record(limit, key);
    this.#sinks.instruments.remaining.record(remaining, key);
  }

  retry({ reason, waitMs }: RetryEvent): void {
    // The conventions name an error response by its status alone.
    const errorType = reason.replace(/^status /, '');
    this.#sinks.instruments.retries.add(1, { ...this.#attributes, [HTTP.errorType]: errorType });
    this.#beginWait('retry', waitMs);
  }

  wait({ waitMs }: WaitEvent): void {
    this.#beginWait('rate_limit', waitMs);
  }

  error({ error }: CallErrorEvent): void {
    this.#errorType = error.code;
    this.#span.setAttribute(OWN.outcome, error.outcome);
  }

  end({ attempt, durationMs, waitedMs, result }: EndEvent): void {
    if (result === 'aborted') this.#errorType = 'aborted';
    if (result === 'error') this.#errorType ??= '_OTHER';
    this.#endWait();
    this.#span.setAttributes({
      [OWN.attempts]: attempt,
      [OWN.requests]: this.#requests,
      [OWN.waited]: waitedMs / 1000,
    });
    const failed = this.#errorType === undefined ? {} : { [HTTP.errorType]: this.#errorType };
    this.#sinks.instruments.callDuration.record(durationMs / 1000, { ...this.#attributes, ...failed });
    endSpan(this.#span, this.#errorType);
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

/** A span around a sync or a push, in whose context its calls are made. */
export async function spanOfRun(
  { name, tenant, collections }: RunEvent,
  work: () => Promise<RunEnd>,
  { tracer, attributes }: Sinks,
): Promise<void> {
  const around = context.active();
  const own = { [OWN.tenant]: tenant, [OWN.collections]: [...collections] };
  const span = tracer.startSpan(`accounting ${name}`, { attributes: { ...attributes, ...own } }, around);
  const { error, report } = await context.with(trace.setSpan(around, span), work);
  if (report !== undefined) span.setAttributes(resultOf(report));
  if (error !== undefined) endSpan(span, isAccountingError(error) ? error.code : aborted(error));
  else endSpan(span);
}

function resultOf(report: SyncReport | PushReport): Attributes {
  if ('counts' in report) return { [OWN.rows]: report.rows };
  const statuses = new Set(report.collections.map(({ status }) => status));
  return { [OWN.statuses]: [...statuses].toSorted(), [OWN.records]: report.records };
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
