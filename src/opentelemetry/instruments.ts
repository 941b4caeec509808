import type { Counter, Gauge, Histogram, Meter } from '@opentelemetry/api';
import { OWN } from './attributes.ts';

/** Everything that is measured. */
export interface Instruments {
  /** Each call, with all its attempts and waits. */
  readonly callDuration: Histogram;
  /** Each wait, by its measured length. */
  readonly waitDuration: Histogram;
  readonly retries: Counter;
  readonly remaining: Gauge;
  readonly quota: Gauge;
  readonly invalidRecords: Counter;
  readonly checkpoints: Counter;
}

/** Bounds of the histograms. Waits for quota and calls with retries take longer than requests. */
const SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120];

/** Creates the instruments of a meter. A second call returns the same ones, so that clients may share a meter. */
export function createInstruments(meter: Meter): Instruments {
  const histogram = (name: string, description: string) =>
    meter.createHistogram(name, { description, unit: 's', advice: { explicitBucketBoundaries: SECONDS } });
  return {
    callDuration: histogram(
      'accounting.client.call.duration',
      'Duration of calls, with all their requests and waits.',
    ),
    waitDuration: histogram(
      'accounting.client.wait.duration',
      'Duration of single waits: for the quota of the key, or before a retry.',
    ),
    retries: meter.createCounter('accounting.client.retries', {
      description: 'Attempts that failed and were retried.',
      unit: '{retry}',
    }),
    remaining: meter.createGauge(OWN.remaining, {
      description: 'Requests left in the quota of the key, as last reported.',
      unit: '{request}',
    }),
    quota: meter.createGauge(OWN.quota, {
      description: 'The quota of the key, as last reported.',
      unit: '{request}',
    }),
    invalidRecords: meter.createCounter('accounting.client.invalid_records', {
      description: "Rows that did not match their schema, under validation: 'report'.",
      unit: '{record}',
    }),
    checkpoints: meter.createCounter('accounting.sync.checkpoints', {
      description: 'Checkpoints that syncs have written.',
      unit: '{checkpoint}',
    }),
  };
}
