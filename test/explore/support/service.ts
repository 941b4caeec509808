import { createSandbox, type Sandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { startVirtualClock } from '../../support/virtual-clock.ts';

let opened = 0;

/** A service of its own, at a time that is always the same: clients of one address share what they know of its quota. */
export function openService(options: SandboxOptions): Sandbox {
  startVirtualClock(1);
  opened += 1;
  return createSandbox({
    origin: `https://service-${opened}.example`,
    clock: { now: () => Date.now() },
    ...options,
  });
}

/** Lines about such a service, without its number. */
export function plain(lines: readonly string[]): string[] {
  return lines.map((line) => line.replaceAll(/service-\d+\.example/g, 'service.example'));
}
