import { createSandbox, type Sandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { startEvenClock } from '../../support/virtual-clock.ts';

/** A service at a time that is always the same. */
export function openService(options: SandboxOptions): Sandbox {
  startEvenClock();
  return createSandbox({ origin: 'https://service.example', clock: { now: () => Date.now() }, ...options });
}
