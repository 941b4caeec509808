import { InvalidInputError } from '../errors/invalid-input-error.ts';
import type { CallOptions, CallSettings, RequestOptions, RetryOptions, RetryPolicy } from './call-options.ts';
import { checkHeaders } from './headers.ts';

/** The options of one call over the settings of its client. Checked here, before anything is sent. */
export function callSettings(settings: CallSettings, options: CallOptions): CallSettings {
  checkObject(options, 'options');
  const { timeoutMs, deadlineMs, maxWaitMs, retry } = options;
  if (timeoutMs === undefined && deadlineMs === undefined && maxWaitMs === undefined && retry === undefined) {
    return settings;
  }
  return {
    timeoutMs: duration(timeoutMs, 'timeoutMs', 1) ?? settings.timeoutMs,
    deadlineMs: duration(deadlineMs, 'deadlineMs', 1) ?? settings.deadlineMs,
    maxWaitMs: duration(maxWaitMs, 'maxWaitMs', 0) ?? settings.maxWaitMs,
    retry: retry === undefined ? settings.retry : retryPolicy(settings.retry, retry),
  };
}

function retryPolicy(policy: RetryPolicy, options: RetryOptions): RetryPolicy {
  checkObject(options, 'retry');
  const { maxAttempts, baseDelayMs, maxDelayMs, updates, creates, inProgressTypes } = options;
  if (inProgressTypes !== undefined && !isListOfNames(inProgressTypes)) {
    throw new InvalidInputError('retry.inProgressTypes', 'must be an array of strings, none of them empty');
  }
  if (maxAttempts !== undefined && !(Number.isInteger(maxAttempts) && maxAttempts >= 1)) {
    throw new InvalidInputError('retry.maxAttempts', 'must be a whole number of at least 1');
  }
  return {
    maxAttempts: maxAttempts ?? policy.maxAttempts,
    baseDelayMs: duration(baseDelayMs, 'retry.baseDelayMs', 0) ?? policy.baseDelayMs,
    maxDelayMs: duration(maxDelayMs, 'retry.maxDelayMs', 0) ?? policy.maxDelayMs,
    updates: flag(updates, 'retry.updates') ?? policy.updates,
    creates: flag(creates, 'retry.creates') ?? policy.creates,
    inProgressTypes: inProgressTypes ?? policy.inProgressTypes,
  };
}

function flag(value: boolean | undefined, argument: string): boolean | undefined {
  if (value === undefined || typeof value === 'boolean') return value;
  throw new InvalidInputError(argument, 'must be true or false');
}

function isListOfNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((name) => typeof name === 'string' && name !== '');
}

/** Options come from JavaScript too, where anything may stand in their place. */
export function checkObject(value: unknown, argument: string): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InvalidInputError(argument, 'must be an object');
  }
}

function duration(ms: number | undefined, argument: string, least: number): number | undefined {
  if (ms === undefined) return undefined;
  if (typeof ms !== 'number' || !(ms >= least)) {
    throw new InvalidInputError(argument, `must be a number of milliseconds, at least ${least}`);
  }
  return ms;
}

/** Options that only one call can have. */
export function checkRequestOptions(options: RequestOptions): void {
  checkObject(options, 'options');
  const { headers, signal } = options;
  if (headers !== undefined) checkHeaders(headers);
  if (
    signal !== undefined &&
    typeof (signal as Partial<AbortSignal> | null)?.addEventListener !== 'function'
  ) {
    throw new InvalidInputError('signal', 'must be an AbortSignal');
  }
}
