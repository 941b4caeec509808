import type { Send, SendInit, Target, TargetKeys } from './target.ts';

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;

/** The command-line options of the report, for `parseArgs`. */
export const FLAGS = {
  help: flag,
  'base-url': text,
  'api-key-env': text,
  write: flag,
  throwaway: flag,
  exhaust: flag,
  'other-key-env': text,
  'read-only-key-env': text,
  'forbidden-key-env': text,
  'revoked-key-env': text,
  'foreign-key-env': text,
  'locked-product': text,
};

/** The values of the options that were given. */
export type ServiceFlags = {
  readonly [Name in keyof typeof FLAGS]?: (typeof FLAGS)[Name] extends typeof text ? string : boolean;
};

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

const MAX_REJECTIONS = 10;

/** Waits after a 429, because a check must not fail for the requests of earlier checks. */
function patient(send: Send): Send {
  return async (url: string, init: SendInit) => {
    for (let rejected = 0; ; rejected += 1) {
      const response = await send(url, init);
      if (response.status !== 429 || rejected === MAX_REJECTIONS) return response;
      await response.arrayBuffer();
      const seconds = Number(response.headers.get('retry-after') ?? 5);
      await sleep(1000 * (Number.isFinite(seconds) ? Math.min(Math.max(seconds, 1), 300) : 5));
    }
  };
}

function keysOf(flags: ServiceFlags, env: Readonly<Record<string, string | undefined>>): TargetKeys {
  const key = (name: string | undefined): string | undefined => {
    if (name === undefined) return undefined;
    const value = env[name];
    if (value === undefined || value === '') throw new Error(`The variable ${name} contains no key.`);
    return value;
  };
  return {
    main: key(flags['api-key-env'] ?? 'ACCOUNTING_API_KEY') ?? '',
    otherCompany: key(flags['other-key-env']),
    readOnly: key(flags['read-only-key-env']),
    withoutPermission: key(flags['forbidden-key-env']),
    revoked: key(flags['revoked-key-env']),
    foreign: key(flags['foreign-key-env']),
  };
}

/** A remote service as the target of the checks. Throws if a flag names a variable that is not set. */
export function serviceTarget(
  flags: ServiceFlags,
  env: Readonly<Record<string, string | undefined>>,
): Target {
  const { origin, pathname } = new URL(flags['base-url'] ?? '');
  const baseUrl = `${origin}${pathname.replace(/\/(api\/public\/v1\/?)?$/, '')}`;
  const send: Send = (url, init) => globalThis.fetch(url, init);
  const keys = keysOf(flags, env);
  return {
    baseUrl,
    send: patient(send),
    keys,
    write: flags.write ?? false,
    throwaway: flags.throwaway ?? false,
    lockedProduct: flags['locked-product'],
    limited: flags.exhaust === true ? { baseUrl, send, keys } : undefined,
    wait: sleep,
  };
}
