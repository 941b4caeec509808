import type { CallFacts } from '../errors/accounting-error.ts';
import { ConnectionError } from '../errors/connection-error.ts';
import { outcomeAdvice } from '../errors/outcome-advice.ts';
import { causeText } from '../internal/text.ts';
import { environmentProxy } from './environment-proxy.ts';
import { Failure, type Fault } from './failure.ts';

/** Codes of Node, Bun and libuv for a connection that was never made. */
const UNSENT =
  /^(?:ENOTFOUND|EAI_\w+|ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT|ConnectionRefused|FailedToOpenSocket)$/;
/** Certificates, TLS versions, and what fetch itself refuses. */
const BLOCKED =
  /^(?:ERR_TLS_\w+|ERR_SSL_\w+|CERT_\w+|SELF_SIGNED_\w+|DEPTH_ZERO_\w+|UNABLE_TO_\w+|HOSTNAME_MISMATCH|ERR_INVALID_URL|\w*_CERTIFICATE\w*)$/;
/** A TLS connection that broke while it was in use, as one whose records arrive damaged. */
const BROKEN_TLS = /BAD_RECORD_MAC|DECRYPT|UNEXPECTED_EOF|SHUTDOWN/;
/** undici gives these two no code. */
const BLOCKED_MESSAGE = /^(?:bad port|unknown scheme)$/;

/** undici's words for a proxy that answers CONNECT, or a request that it was to forward, with an error. */
const PROXY_REJECTION =
  /^Proxy response \((\d{3})\) !== 200 when HTTP Tunneling$|^Proxy Authentication Required \((407)\)$/;

/** What a rejected `fetch` says. Its messages are not passed on: some quote the URL or a header value. */
export function networkFailure(error: unknown, target: Target, cause?: unknown): Failure {
  const found = classify(causesOf(error));
  const { fault } = found;
  return new Failure(fault, (facts) => {
    const sentBefore = fault !== 'lost' && facts.outcome !== 'not_sent';
    const advice = sentBefore ? sentBeforeAdvice(facts) : adviceFor(found, facts);
    return new ConnectionError(
      `${facts.method} ${facts.path} got no response (${whatHappened(found, target, cause)}). ${advice}`,
      { ...facts, retryable: facts.retryable ?? fault !== 'blocked' },
      { reason: found.reason, proxyStatus: found.proxyStatus, cause, ...target },
    );
  });
}

/** Where a connection was to go. */
export interface Target {
  readonly host: string;
  readonly port: number;
  /** Host and port, without credentials; undefined if none is known of. */
  readonly proxy: string | undefined;
}

/** Where a request goes; `proxied`: by the runtime's own `fetch`, which may take a proxy from the environment. */
export function targetOf(url: string, proxied: boolean): Target {
  const parsed = new URL(url);
  const { hostname, port, protocol } = parsed;
  return {
    host: hostname,
    port: Number(port) || (protocol === 'https:' ? 443 : 80),
    proxy: proxied ? environmentProxy(parsed) : undefined,
  };
}

/** Such as "ECONNREFUSED 127.0.0.1:8080". */
function whatHappened(
  { reason, proxyStatus }: Classified,
  { host, port, proxy }: Target,
  cause: unknown,
): string {
  const where = `${host}:${port}`;
  if (proxyStatus !== undefined) {
    return `the proxy${proxy === undefined ? '' : ` ${proxy}`} rejected the connection to ${where} with ${proxyStatus}`;
  }
  const thrown = causeText(cause);
  if (reason === undefined && thrown !== '') return `the function given as fetch threw ${thrown}; ${where}`;
  const through = proxy === undefined ? '' : ` through the proxy ${proxy}`;
  return `${reason ?? 'connection to'} ${where}${through}`;
}

function adviceFor({ fault, proxyStatus }: Classified, facts: CallFacts): string | undefined {
  if (fault === 'lost') return `The connection broke. ${outcomeAdvice(facts) ?? 'Try again.'}`;
  if (proxyStatus === undefined) return ADVICE[fault];
  if (proxyStatus === 407) return 'Nothing was sent: give the proxy its user name and password.';
  return 'Nothing was sent: ask whoever runs the proxy, or exclude the host with NO_PROXY.';
}

const ADVICE: Partial<Record<Fault, string>> = {
  unsent: 'Nothing was sent: check baseUrl and the network.',
  blocked: 'Nothing was sent: check the scheme, port and certificate of baseUrl.',
};

function sentBeforeAdvice(facts: CallFacts): string {
  const advice = outcomeAdvice(facts) ?? 'Check baseUrl and the network.';
  return `This attempt was not sent, but one before it was. ${advice}`;
}

interface Classified {
  readonly fault: Fault;
  readonly reason?: string | undefined;
  readonly proxyStatus?: number;
}

function classify(causes: readonly Cause[]): Classified {
  for (const { code, syscall, message } of causes) {
    const [, tunnel, forwarded] = PROXY_REJECTION.exec(message) ?? [];
    const proxyStatus = Number(tunnel ?? forwarded);
    // The same request meets the same 407 or 403. A 502 or 503 of a proxy may pass.
    if (proxyStatus > 0)
      return { fault: proxyStatus >= 500 ? 'unsent' : 'blocked', reason: code, proxyStatus };
    if (code === undefined) {
      if (BLOCKED_MESSAGE.test(message)) return { fault: 'blocked', reason: message };
      continue;
    }
    // On a connection that was made already, the same codes say nothing of what had been sent by then.
    if (syscall === 'read' || syscall === 'write') continue;
    if (UNSENT.test(code) || (syscall === 'connect' && code === 'ETIMEDOUT'))
      return { fault: 'unsent', reason: code };
    if (BLOCKED.test(code) && !BROKEN_TLS.test(code)) return { fault: 'blocked', reason: code };
  }
  return { fault: 'lost', reason: causes.find(({ code }) => code !== undefined)?.code };
}

interface Cause {
  readonly code: string | undefined;
  readonly syscall: unknown;
  readonly message: string;
}

/** The error, what caused it and, where several addresses were tried, what each said: five levels at most. */
function causesOf(error: unknown, depth = 0): Cause[] {
  if (!(error instanceof Error) || depth > 5) return [];

  const { code, syscall } = error as { code?: unknown; syscall?: unknown };
  // A code is a short constant; anything longer may be a text that quotes what was sent.
  const constant = typeof code === 'string' && /^\w{1,60}$/.test(code) ? code : undefined;
  const inner = error instanceof AggregateError ? [...error.errors, error.cause] : [error.cause];
  return [
    { code: constant, syscall, message: error.message },
    ...inner.slice(0, 10).flatMap((cause) => causesOf(cause, depth + 1)),
  ];
}
