import type { CheckpointEvent, Listeners, Logger } from 'accounting-data-sdk';
import { checkpointCounter, telemetryListeners } from 'accounting-data-sdk/opentelemetry';
import { record } from '../client/telemetry/support/recorder.ts';
import { leaks } from './secrets.ts';

/** Every event of a client: the type keeps the list complete. */
const EVENTS: Readonly<Record<keyof Listeners, true>> = {
  request: true,
  response: true,
  retry: true,
  wait: true,
  error: true,
  end: true,
  invalidRecord: true,
  run: true,
};
export const eventNames = Object.keys(EVENTS).toSorted();

/** Everything that a client passes on: its events, log lines, spans and measurements. */
export function openSinks() {
  const recorder = record();
  const events: { name: string; event: unknown }[] = [];
  const lines: string[] = [];
  const write = (...parts: unknown[]) => void lines.push(parts.map(String).join(' '));
  const logger: Logger = { debug: write, info: write, warn: write };
  const listeners: Listeners = Object.fromEntries(
    eventNames.map((name) => [name, (event: unknown) => void events.push({ name, event })]),
  );
  const count = checkpointCounter(recorder.options);
  const onCheckpoint = (event: CheckpointEvent): void => {
    events.push({ name: 'checkpoint', event });
    count(event);
  };
  return {
    /** For createClient. */
    options: { on: [telemetryListeners(recorder.options), listeners], logger },
    /** For a sync. */
    onCheckpoint,
    events,
    lines,
    recorder,
    /** The lines of all this, and of other values, that show the key. */
    async leaks(canary: string, ...values: readonly unknown[]): Promise<string[]> {
      // An invalid row is the company's data and is passed on unchanged.
      const told = events.map(({ event }) => ({ ...(event as object), record: undefined }));
      const metrics = (await recorder.metrics()).values();
      const all = [...values, ...told, lines, ...(await recorder.spans()), ...metrics];
      return all.flatMap((value) => leaks(value, canary));
    },
  };
}
