/**
 * What a client tells, as spans and metrics of OpenTelemetry.
 *
 * @packageDocumentation
 */

export { mergeListeners } from './merge-listeners.ts';
export { type TelemetryOptions, telemetryListeners } from './telemetry-listeners.ts';
