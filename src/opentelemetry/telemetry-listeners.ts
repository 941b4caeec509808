import { type Attributes, type MeterProvider, metrics, type TracerProvider, trace } from '@opentelemetry/api';
import type { CallEvent, Listeners } from '../events.ts';
import { resolved } from '../input/checks.ts';
import {
  type Check,
  is,
  type Named,
  type OptionInputs,
  option,
  optional,
  type ResolvedOptions,
} from '../internal/options.ts';
import { VERSION } from '../internal/version.ts';
import type { CheckpointEvent } from '../sync/run-options.ts';
import { OWN } from './attributes.ts';
import { createInstruments } from './instruments.ts';
import { OpenCall, type Sinks, spanOfRun } from './open-call.ts';

export const telemetryOptions = {
  /** Where spans go. Default: the provider that is registered with OpenTelemetry at the first event. */
  tracerProvider: optional(is.withMethods<TracerProvider>('getTracer')),
  /** Where measurements go. Default: the provider that is registered with OpenTelemetry at the first event. */
  meterProvider: optional(is.withMethods<MeterProvider>('getMeter')),
  /**
   * Attributes for every span and every measurement, such as `{ tenant: '42' }`. A quota belongs to a key: a
   * process with several keys for one service needs an attribute that distinguishes their gauges.
   */
  attributes: option(is.object as Check<Attributes>, {}),
};

/** Options of {@link telemetryListeners} and {@link checkpointCounter}. */
export interface TelemetryOptions extends OptionInputs<typeof telemetryOptions>, Named {}

const NAME = 'accounting-data-sdk';

/**
 * Listeners that turn the events of a client into spans and metrics, by OpenTelemetry's semantic conventions for HTTP.
 *
 * ```ts
 * const client = createClient({ on: telemetryListeners({ attributes: { tenant: '42' } }) });
 * ```
 * Each call becomes a span, which ends with it, even if the call fails or is aborted. A `sync` or a `push` is a span
 * around its calls, with the tenant and the collections. Spans of single requests are those of an instrumentation of
 * `fetch`, such as `@opentelemetry/instrumentation-undici`. Of a query, only the page and the bounds of ids are in a
 * span; the key, a body or a message of the service never is.
 */
export function telemetryListeners(options: TelemetryOptions = {}): Listeners {
  const calls = new Map<number, OpenCall>();
  const sinks = lazySinks(options, 'telemetryListeners');
  const callOf = (event: CallEvent): OpenCall => {
    let call = calls.get(event.call);
    if (call === undefined) {
      call = new OpenCall(event, sinks());
      calls.set(event.call, call);
    }
    return call;
  };

  return {
    request: (event) => callOf(event).request(),
    response: (event) => callOf(event).response(event),
    retry: (event) => callOf(event).retry(event),
    wait: (event) => callOf(event).wait(event),
    error: (event) => callOf(event).error(event),
    end: (event) => {
      const call = callOf(event);
      calls.delete(event.call);
      call.end(event);
    },
    run: (event, work) => spanOfRun(event, work, sinks()),
    invalidRecord: ({ collection }) => countIn(collection, sinks(), 'invalidRecords'),
  };
}

/**
 * Counts the checkpoints that syncs write, as the metric `accounting.sync.checkpoints`: the option `onCheckpoint` of
 * `sync` and `changes`.
 *
 * ```ts
 * await sync(client, { store, tenant, onBatch, onCheckpoint: checkpointCounter({ attributes: { tenant } }) });
 * ```
 */
export function checkpointCounter(options: TelemetryOptions = {}): (event: CheckpointEvent) => void {
  const sinks = lazySinks(options, 'checkpointCounter');
  return ({ collection }) => countIn(collection, sinks(), 'checkpoints');
}

function countIn(
  collection: string,
  { instruments, attributes }: Sinks,
  what: 'invalidRecords' | 'checkpoints',
): void {
  instruments[what].add(1, { ...attributes, [OWN.collection]: collection });
}

/** With the first event, because a provider is often registered after modules have created their clients. */
function lazySinks(options: TelemetryOptions, of: string): () => Sinks {
  const given = resolved(telemetryOptions, options, { of });
  let sinks: Sinks | undefined;
  return () => {
    sinks ??= createSinks(given);
    return sinks;
  };
}

function createSinks({
  tracerProvider,
  meterProvider,
  attributes,
}: ResolvedOptions<typeof telemetryOptions>): Sinks {
  return {
    tracer: (tracerProvider ?? trace.getTracerProvider()).getTracer(NAME, VERSION),
    instruments: createInstruments((meterProvider ?? metrics.getMeterProvider()).getMeter(NAME, VERSION)),
    attributes,
  };
}
