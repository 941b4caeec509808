import { collectionNames } from 'accounting-data-sdk';
import { createSandbox, type Sandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import type { Send, Target } from './target.ts';

/** Every collection has two full pages and five records. */
const RECORDS = Object.fromEntries(collectionNames.map((name) => [name, 65]));

/** A sandbox as the target of the suite, with everything that a check may need. */
export interface SandboxTarget extends AsyncDisposable {
  readonly target: Target;
  readonly sandbox: Sandbox;
}

/** How the sandbox is reached. */
export type Way = 'listening' | 'fetch';

async function reach(sandbox: Sandbox, way: Way): Promise<{ baseUrl: string; send: Send }> {
  if (way === 'fetch') return { baseUrl: sandbox.baseUrl, send: sandbox.fetch };
  const { url } = await sandbox.listen();
  return { baseUrl: url, send: (to, init) => globalThis.fetch(to, init) };
}

function keysOf({ keys }: Sandbox): Target['keys'] {
  return {
    main: keys.full,
    otherCompany: keys.otherCompany,
    readOnly: keys.readOnly,
    withoutPermission: keys.forbidden,
    revoked: keys.revoked,
  };
}

/** Creates a sandbox as a target. Its clock stops until a check waits, so that no check depends on the machine. */
export async function sandboxTarget(way: Way, options: SandboxOptions = {}): Promise<SandboxTarget> {
  const common: SandboxOptions = { clock: '2026-01-31T12:00:00Z', timestampsEverywhere: true, ...options };
  const sandbox = createSandbox({ records: RECORDS, otherRecords: RECORDS, ...common });
  const { kind } = options.rateLimit === false || options.rateLimit === undefined ? {} : options.rateLimit;
  const limited = createSandbox({
    records: RECORDS,
    ...common,
    rateLimit: { limit: 5, windowMs: 60_000, kind },
  });
  const lockedProduct = sandbox.store.products.insert({ name: 'Locked' }).id;
  sandbox.store.products.lock(lockedProduct);

  const target: Target = {
    ...(await reach(sandbox, way)),
    keys: keysOf(sandbox),
    lockedProduct,
    limited: { ...(await reach(limited, way)), keys: keysOf(limited) },
    wait: async (ms) => {
      sandbox.clock.advance(ms);
      limited.clock.advance(ms);
    },
  };
  const close = async () => {
    await Promise.all([sandbox.close(), limited.close()]);
  };
  return { target, sandbox, [Symbol.asyncDispose]: close };
}
