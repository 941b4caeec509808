import { printedCause } from './errors/accounting-error.ts';
import { type AnyAccountingError, isAccountingError, isApiError } from './errors/guards.ts';
import type { PushError } from './errors/push-error.ts';
import type { SyncError } from './errors/sync-error.ts';
import { logWriter } from './internal/logger.ts';
import { notify } from './internal/notify.ts';
import { is, type Named, type OptionInputs, optional } from './internal/options.ts';
import { causeText } from './internal/text.ts';
import type { PushReport } from './reports/push-report.ts';
import type { SyncReport } from './reports/sync-report.ts';
import type { RateLimit } from './schemas/rate-limit.ts';

/** What every event of a call carries. Never the API key, never a body. */
export interface CallEvent {
  /** The same number for all events of one call, its retries included. */
  readonly call: number;
  readonly method: string;
  /** The origin of the service. */
  readonly origin: string;
  /** The path of the base URL, such as `/api/public/v1`: `path` and `template` are relative to it. */
  readonly basePath: string;
  /** The path without base URL and query. */
  readonly path: string;
  /** The path with placeholders, such as `/products/{id}`. */
  readonly template: string;
  /**
   * The page or the bounds of ids that a list requests, such as `_page=3` or `id[gt]=500`; undefined for other calls.
   * Never `updatedSince` or a cursor.
   */
  readonly query: string | undefined;
  /** Which attempt this is, from 1; 0 before the first. A 429 and a refreshed key do not count up. */
  readonly attempt: number;
}

/** A request is about to be sent. */
export interface RequestEvent extends CallEvent {
  /** The key under which this create can be repeated: store it to be able to resume after a crash. */
  readonly idempotencyKey: string | undefined;
}

/** The status and headers of a response have arrived. */
export interface ResponseEvent extends CallEvent {
  readonly status: number;
  /** From the request to the headers of the response. */
  readonly durationMs: number;
  readonly rateLimit: RateLimit | undefined;
  readonly requestId: string | undefined;
  /** What support asks for of the response headers, lower case: date, limits, announced removals, the id of the request. */
  readonly headers: Readonly<Record<string, string>>;
}

/** An attempt failed, and another follows. */
export interface RetryEvent extends CallEvent {
  /** What went wrong, such as `lost` or `status 503`. */
  readonly reason: string;
  /** How long the call waits before the next attempt. */
  readonly waitMs: number;
}

/** A call waits for the quota of its key. */
export interface WaitEvent extends CallEvent {
  /** How long, if that is known. */
  readonly waitMs: number | undefined;
}

/** A call has failed for good. */
export interface CallErrorEvent extends CallEvent {
  readonly error: AnyAccountingError;
}

/** A call has ended, however it ended: the last event of its number, and the only one that an abort has. */
export interface EndEvent extends CallEvent {
  readonly result: 'ok' | 'error' | 'aborted';
  /** From the call to its end, with all attempts and waits. */
  readonly durationMs: number;
  /** The part of it that was waiting: backoff, Retry-After, the rate limiter. */
  readonly waitedMs: number;
}

/** A row did not match its schema, under `validation: 'report'`. It is not among the records of the list. */
export interface InvalidRecord {
  /** The path segment of the collection. */
  readonly collection: string;
  /** The row's id, if it can be read, without the API key if the row echoes it. */
  readonly id: string | undefined;
  /** What did not match, without values: `salePrice: expected money`. Never the API key, even if the row echoes it. */
  readonly issues: readonly string[];
  /** The row as the service sent it, unchanged: the company's data, like any record. Do not log it. */
  readonly record: unknown;
  /**
   * What a copy may hold of the row: all of it if the collection has no schema of yours, with a Zod object the fields that
   * it names, with another schema the id. Undefined if the id cannot be read.
   */
  readonly storable?: Readonly<Record<string, unknown>> | undefined;
}

/** A `sync` or a `push` is about to begin. */
export interface RunEvent {
  readonly name: 'sync' | 'push';
  /** The label that the caller chose for the company. */
  readonly tenant: string;
  /** By the names of the client's properties. */
  readonly collections: readonly string[];
}

/** How a `sync` or a `push` ended. */
export interface RunEnd {
  /** What it rejected with; undefined if it succeeded. */
  readonly error: unknown;
  /** What it did, also of one that failed; undefined after an abort and before anything was read. */
  readonly report: SyncReport | PushReport | undefined;
}

const listener = <Event>() => optional(is.callback<(event: Event) => void>());

export const events = {
  /** Before each request is sent. */
  request: listener<RequestEvent>(),
  /** When the headers of a response have arrived, before its body is read. */
  response: listener<ResponseEvent>(),
  /** When an attempt has failed and another follows. */
  retry: listener<RetryEvent>(),
  /** When a call waits for the quota of its key. */
  wait: listener<WaitEvent>(),
  /** When a call has failed for good. An abort is not an error: see `end`. */
  error: listener<CallErrorEvent>(),
  /** When a call has ended, whatever its result: always the last event of a call. */
  end: listener<EndEvent>(),
  /** For each row that is left out of a list, under `validation: 'report'`, when its page is returned. */
  invalidRecord: listener<InvalidRecord>(),
  /**
   * Around a `sync` or a `push`: call `work` to run it, for example in a span or in a context of
   * AsyncLocalStorage. It resolves with how the run ended. The run
   * runs once, even if this throws or does not call `work`.
   */
  run: optional(is.callback<(event: RunEvent, work: () => Promise<RunEnd>) => unknown>()),
};

/** Listeners, each optional. An error that one throws is written to the logger and never affects the call. */
export interface Listeners extends OptionInputs<typeof events>, Named {}

/**
 * What console, pino and winston have in common. pino gets an object and a message, winston a message and an object,
 * each with `method`, `path`, `query`, `status`, `durationMs`, `attempt`, `requestId`, `code` and `outcome` as far as they apply;
 * every other logger gets the message.
 */
export interface Logger {
  /** Each request and response. */
  debug(message: string): unknown;
  /** Retries and waits. */
  info(message: string): unknown;
  /** Calls that failed, rows that did not match their schema, lists that may lack a record, listeners that threw. */
  warn(message: string): unknown;
}

export interface ClientListeners extends Omit<Listeners, 'run'> {
  /** Carries out a run inside the listeners `run`, the first of them outside. */
  readonly inRun?:
    | (<Report extends SyncReport | PushReport>(
        event: RunEvent,
        work: () => Promise<Report>,
      ) => Promise<Report>)
    | undefined;
  /** Reports to the logger that a listener threw; `who` names it, such as `onWait`. */
  readonly listenerFailed?: ((who: string, thrown: unknown) => void) | undefined;
  /** Writes a warning about a collection to the logger. */
  readonly collectionWarning?: ((collection: string, reason: string) => void) | undefined;
}

/** One listener object that calls the caller's and those that write to a logger. */
export function combineListeners(
  on: Listeners | readonly Listeners[],
  logger: Logger | undefined,
): ClientListeners {
  const listenerFailed = logger === undefined ? undefined : failureReporter(logger);
  const everyone = [...(logger === undefined ? [] : [loggingListeners(logger)]), ...[on].flat()];
  const call = (who: string, listener: () => unknown) =>
    notify(listener, undefined, (thrown) => listenerFailed?.(who, thrown));
  const isOfLogger = (index: number) => logger !== undefined && index === 0;
  const combined: Record<string, (event: unknown) => void> = {};
  // By name, not by `Object.keys`: the methods of a class are listeners too, and need their `this`.
  for (const name of Object.keys(events) as (keyof Listeners)[]) {
    if (name === 'run' || everyone.every((listeners) => listeners[name] === undefined)) continue;
    combined[name] = (event) => {
      for (const [index, listeners] of everyone.entries()) {
        const who = isOfLogger(index) ? 'the logger' : `the listener on.${name}`;
        call(who, () => listeners[name]?.(event as never));
      }
    };
  }
  const inRun = runInside(everyone, call);
  if (logger === undefined) return { ...combined, inRun };
  const collectionWarning = (collection: string, reason: string) => {
    const text = `accounting-data-sdk ${collection}: ${reason}`;
    call('the logger', () => logWriter(logger)('warn', text, { collection }));
  };
  return { ...combined, inRun, listenerFailed, collectionWarning };
}

function runInside(
  everyone: readonly Listeners[],
  call: (who: string, listener: () => unknown) => void,
): ClientListeners['inRun'] {
  return (event, work) => {
    const outermost = everyone.reduceRight((inner, listeners) => {
      let result: ReturnType<typeof inner> | undefined;
      const once = () => (result ??= inner());
      // Its rejection is the caller's to handle: a listener that awaits it has not failed.
      const end = () =>
        once().then(
          (report): RunEnd => ({ error: undefined, report }),
          (error: unknown): RunEnd => ({ error, report: hasReport(error) ? error.report : undefined }),
        );
      return () => {
        call('the listener on.run', () => listeners.run?.(event, end));
        return once();
      };
    }, work);
    return outermost();
  };
}

function hasReport(error: unknown): error is SyncError | PushError {
  return isAccountingError(error, 'sync_failed') || isAccountingError(error, 'push_failed');
}

function failureReporter(logger: Logger): (who: string, thrown: unknown) => void {
  return (who, thrown) => {
    const text = `accounting-data-sdk: ${who} threw ${causeText(thrown) || 'something other than an error'}`;
    // The logger may be what is broken.
    notify(() => logWriter(logger)('warn', text, { cause: printedCause(thrown) }), undefined);
  };
}

/** A shorter wait is not worth a line: its announced time is an upper bound, and most end at once. */
const REPORTED_WAIT_MS = 1_000;

/** Each returns what the logger returns, so that a promise which it rejects is handled. */
function loggingListeners(logger: Logger): Listeners {
  const write = logWriter(logger);
  const failures = new Map<number, AnyAccountingError>();
  const waits = new Map<number, ReturnType<typeof setTimeout>>();
  const endWait = ({ call }: CallEvent) => {
    clearTimeout(waits.get(call));
    waits.delete(call);
  };
  const at = ({ call, method, path, query }: CallEvent) =>
    `accounting-data-sdk #${call} ${method} ${path}${query === undefined ? '' : `?${query}`}`;
  const fieldsOf = ({ call, method, path, query, attempt }: CallEvent) => ({
    call,
    method,
    path,
    query,
    attempt,
  });

  return {
    request: (event) => {
      endWait(event);
      return write('debug', `${at(event)} attempt ${event.attempt}`, fieldsOf(event));
    },
    response: (event) => {
      const { status, durationMs, rateLimit, requestId } = event;
      const quota = rateLimit === undefined ? '' : `, ${rateLimit.remaining}/${rateLimit.limit} left`;
      const id = requestId === undefined ? '' : `, request ${requestId}`;
      const text = `${at(event)} → ${status} in ${Math.round(durationMs)} ms${quota}${id}`;
      return write('debug', text, { ...fieldsOf(event), status, durationMs, requestId });
    },
    retry: (event) => {
      const { reason, waitMs } = event;
      const text = `${at(event)} ${reason}; again in ${Math.round(waitMs)} ms`;
      return write('info', text, { ...fieldsOf(event), reason, waitMs });
    },
    wait: (event) => {
      const { call, waitMs } = event;
      const howLong = waitMs === undefined ? 'for the quota of the key' : `${Math.round(waitMs)} ms`;
      const line = () => write('info', `${at(event)} waits ${howLong}`, { ...fieldsOf(event), waitMs });
      clearTimeout(waits.get(call));
      waits.set(
        call,
        setTimeout(() => notify(line, undefined), REPORTED_WAIT_MS),
      );
    },
    // Written with the event `end`, which always follows and says how long the call took.
    error: ({ call, error }) => void failures.set(call, error),
    end: (event) => {
      endWait(event);
      const error = failures.get(event.call);
      if (error === undefined) return undefined;
      failures.delete(event.call);
      const { code, outcome, message } = error;
      const { durationMs, waitedMs } = event;
      const done = event.method === 'GET' ? '' : `, outcome ${outcome}`;
      const text = `accounting-data-sdk #${event.call} failed after ${Math.round(durationMs)} ms: ${code}${done}. ${message}`;
      const ofService = isApiError(error) ? { status: error.status, requestId: error.requestId } : {};
      return write('warn', text, { ...fieldsOf(event), durationMs, waitedMs, ...ofService, code, outcome });
    },
    invalidRecord: ({ collection, id, issues }) => {
      const text = `accounting-data-sdk ${collection} ${id ?? '?'}: ${issues.join('; ')}`;
      return write('warn', text, { collection, id, issues });
    },
  };
}
