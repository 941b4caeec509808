/**
 * Spans and metrics of OpenTelemetry for the calls of a client.
 *
 * @packageDocumentation
 */

export { checkpointCounter, type TelemetryOptions, telemetryListeners } from './telemetry-listeners.ts';
