import { type Attributes, SpanKind, SpanStatusCode } from '@opentelemetry/api';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  type MetricData,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { type ClientOptions, createClient } from 'accounting-data-sdk';
import { telemetryListeners } from 'accounting-data-sdk/opentelemetry';
import { createSandbox, type SandboxOptions } from 'accounting-data-sdk/testing';

/** A span, as much of it as tests look at. */
export type SeenSpan = Awaited<ReturnType<ReturnType<typeof record>['spans']>>[number];

/** A sandbox with three products, a client whose telemetry is recorded, and the recording. */
export function recordedClient(
  sandboxOptions: SandboxOptions = {},
  options: ClientOptions = {},
  attributes: Attributes = {},
) {
  const sandbox = createSandbox({ records: { products: 3 }, ...sandboxOptions });
  const recorded = record();
  const on = telemetryListeners({ ...recorded.options, attributes });
  const client = createClient({ ...sandbox.clientOptions, retry: { baseDelayMs: 1 }, on, ...options });
  return { sandbox, client, recorded };
}

/** Providers of OpenTelemetry's own SDK whose exporters keep everything in memory. */
export function record() {
  const spanExporter = new InMemorySpanExporter();
  const spans = { open: 0 };
  const counting = {
    onStart() {
      spans.open += 1;
    },
    onEnd() {
      spans.open -= 1;
    },
    forceFlush: async () => {},
    shutdown: async () => {},
  };
  const processor = new SimpleSpanProcessor({ exporter: spanExporter });
  const tracerProvider = new TracerProvider({ spanProcessors: [counting, processor] });
  const metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({
    exporter: metricExporter,
    exportIntervalMillis: 2 ** 31 - 1,
    exportTimeoutMillis: 10_000,
  });
  const meterProvider = new MeterProvider({ readers: [reader] });

  return {
    /** For telemetryListeners. */
    options: { tracerProvider, meterProvider },
    tracerProvider,
    /** How many spans were begun and never ended. */
    open: () => spans.open,
    /** Ended spans, in the order in which they ended. */
    async spans() {
      await tracerProvider.forceFlush();
      return spanExporter.getFinishedSpans().map((span) => ({
        name: span.name,
        kind: SpanKind[span.kind] ?? '?',
        attributes: span.attributes,
        failed: span.status.code === SpanStatusCode.ERROR,
        statusMessage: span.status.message,
        events: span.events.map(({ name, attributes }) => ({ name, attributes })),
        id: span.spanContext().spanId,
        parent: span.parentSpanContext?.spanId,
        trace: span.spanContext().traceId,
      }));
    },
    /** Every metric that has points, by name. */
    async metrics(): Promise<Map<string, MetricData>> {
      await meterProvider.forceFlush();
      const last = metricExporter.getMetrics().at(-1);
      const all = last?.scopeMetrics.flatMap(({ metrics }) => metrics) ?? [];
      return new Map(all.map((metric) => [metric.descriptor.name, metric]));
    },
    /** The series of one metric: its attributes, and its value or what a histogram counted. */
    async points(name: string) {
      const points = (await this.metrics()).get(name)?.dataPoints ?? [];
      return points.map(({ attributes, value }) => ({ attributes, value }));
    },
  };
}
