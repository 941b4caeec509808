import { type AttemptFault, Failure, type Target } from './failure.ts';

/** Codes of Node, Bun and libuv for a connection that was never made. */
const UNSENT =
  /^(?:ENOTFOUND|EAI_\w+|ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT|ConnectionRefused|FailedToOpenSocket|ERR_MODULE_NOT_FOUND)$/;
/** Browsers give no code to a file of this package that they cannot load. */
const UNSENT_MESSAGE = /dynamically imported module|Importing a module script failed/;
/** Certificates, TLS versions, and what fetch itself rejects. */
const BLOCKED =
  /^(?:ERR_TLS_\w+|ERR_SSL_\w+|CERT_\w+|SELF_SIGNED_\w+|DEPTH_ZERO_\w+|UNABLE_TO_\w+|HOSTNAME_MISMATCH|ERR_INVALID_URL|\w*_CERTIFICATE\w*)$/;
/** A TLS connection that broke while it was in use, as one whose records arrive damaged. */
const BROKEN_TLS = /BAD_RECORD_MAC|DECRYPT|UNEXPECTED_EOF|SHUTDOWN/;
/** undici gives these two no code. */
const BLOCKED_MESSAGE = /^(?:bad port|unknown scheme)$/;

/** undici's words for a proxy that rejects CONNECT, or a request that it was to forward. */
const PROXY_REJECTION =
  /^Proxy response \((\d{3})\) !== 200 when HTTP Tunneling$|^Proxy Authentication Required \((407)\)$/;

/** What a rejected `fetch` means. Its messages are not passed on: some quote the URL or a header value. */
export function networkFailure(error: unknown, target: Target, cause?: unknown): Failure {
  const { fault, reason, proxyStatus } = classify(causesOf(error));
  return new Failure(fault, { kind: 'network', target, reason, proxyStatus, cause });
}

/** Where a request goes. */
export function targetOf(url: string): Target {
  const { hostname, port, protocol } = new URL(url);
  return { host: hostname, port: Number(port) || (protocol === 'https:' ? 443 : 80) };
}

interface Classified {
  readonly fault: AttemptFault;
  readonly reason?: string | undefined;
  readonly proxyStatus?: number;
}

function classify(causes: readonly Cause[]): Classified {
  for (const { code, syscall, message } of causes) {
    const [, tunnel, forwarded] = PROXY_REJECTION.exec(message) ?? [];
    const proxyStatus = Number(tunnel ?? forwarded);
    // The same request gets the same 407 or 403. A 502 or 503 of a proxy may pass.
    if (proxyStatus > 0)
      return { fault: proxyStatus >= 500 ? 'unsent' : 'blocked', reason: code, proxyStatus };
    if (code === undefined) {
      if (BLOCKED_MESSAGE.test(message)) return { fault: 'blocked', reason: message };
      if (UNSENT_MESSAGE.test(message)) return { fault: 'unsent' };
      continue;
    }
    // On an established connection the same codes do not say what had been sent by then.
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

/** The error, what caused it and, if several addresses were tried, the error of each: five levels at most. */
function causesOf(error: unknown, depth = 0): Cause[] {
  if (!(error instanceof Error) || depth > 5) return [];

  const { code, syscall } = error as { code?: unknown; syscall?: unknown };
  // A code is a short constant; anything longer may quote what was sent.
  const constant = typeof code === 'string' && /^\w{1,60}$/.test(code) ? code : undefined;
  const inner = error instanceof AggregateError ? [...error.errors, error.cause] : [error.cause];
  return [
    { code: constant, syscall, message: error.message },
    ...inner.slice(0, 10).flatMap((cause) => causesOf(cause, depth + 1)),
  ];
}
