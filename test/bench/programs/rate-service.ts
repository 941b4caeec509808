/** A service on loopback that limits calls for each key, by the limiter that the key begins with. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  ALIGNED,
  type Allowance,
  LIMITERS,
  type Limiter,
  type LimiterName,
} from '../../support/rate-limiters.ts';

export interface RateServiceOptions extends Allowance {
  readonly windows: number;
}

/** What became of the calls under one key. */
export interface KeyReport {
  readonly allowed: number;
  /** 429s in each window, from that of the first call on. */
  readonly rateLimited: readonly number[];
}

interface Account {
  readonly limiter: Limiter;
  readonly startedAt: number;
  allowed: number;
  readonly rateLimited: number[];
}

const options = JSON.parse(process.argv[2] ?? '{}') as RateServiceOptions;
const accounts = new Map<string, Account>();

/** The present, with fractions of a millisecond. */
const now = () => performance.timeOrigin + performance.now();

/** The account of a key, which begins with the name of its limiter. */
function accountOf(key: string): Account {
  const known = accounts.get(key);
  if (known !== undefined) return known;

  const name = key.split('/')[0] as LimiterName;
  const limiter = LIMITERS[name](options);
  const rateLimited = Array.from({ length: options.windows }, () => 0);
  const at = now();
  const startedAt = ALIGNED.has(name) ? Math.floor(at / options.windowMs) * options.windowMs : at;
  const account = { limiter, startedAt, allowed: 0, rateLimited };
  accounts.set(key, account);
  return account;
}

/** Counts one call and gives its status and headers. */
function count(key: string): [number, Record<string, string>] {
  const account = accountOf(key);
  const at = now();
  const verdict = account.limiter(at);
  const window = Math.floor((at - account.startedAt) / options.windowMs);
  if (window < options.windows) {
    if (verdict.allowed) account.allowed += 1;
    else account.rateLimited[window] = (account.rateLimited[window] ?? 0) + 1;
  }
  const headers: Record<string, string> = {
    'x-ratelimit-limit': String(verdict.limit),
    'x-ratelimit-remaining': String(verdict.remaining),
  };
  if (verdict.retryAfterS !== undefined) headers['retry-after'] = String(verdict.retryAfterS);
  return [verdict.allowed ? 200 : 429, headers];
}

const server = createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://127.0.0.1');
  if (url.pathname === '/report') {
    const { allowed, rateLimited } = accountOf(url.searchParams.get('key') ?? '');
    response.end(JSON.stringify({ allowed, rateLimited } satisfies KeyReport));
    return;
  }
  const [status, headers] = count(String(request.headers['x-auth-token']));
  // A few milliseconds, as if there were something to look up.
  setTimeout(() => response.writeHead(status, headers).end('[]'), 2 + 4 * Math.random());
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
