import { ConnectionError } from '../errors/connection-error.ts';
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

/** What a rejected `fetch` says. Its messages are not passed on: some quote the URL or a header value. */
export function networkFailure(error: unknown): Failure {
  const [fault, reason] = classify(error);
  return new Failure(fault, (facts) => {
    const what = `${facts.method} ${facts.path} got no answer${reason === undefined ? '' : ` (${reason})`}`;
    const sentBefore = fault !== 'lost' && facts.outcome !== 'not_sent';
    return new ConnectionError(
      `${what}. ${sentBefore ? SENT_BEFORE : ADVICE[fault]}`,
      { ...facts, retryable: fault !== 'blocked' },
      reason,
    );
  });
}

const ADVICE: Partial<Record<Fault, string>> = {
  unsent: 'Nothing was sent: check baseUrl and the network.',
  blocked: 'Nothing was sent: check the scheme, port and certificate of baseUrl.',
  lost: 'The connection broke; see outcome for what the service may have done.',
};

const SENT_BEFORE =
  'This attempt was not sent, but one before it was; see outcome for what the service may have done.';

function classify(error: unknown): [Fault, reason: string | undefined] {
  const causes = causesOf(error);
  for (const cause of causes) {
    const { code, syscall } = cause;
    if (code === undefined) {
      if (BLOCKED_MESSAGE.test(cause.message)) return ['blocked', cause.message];
      continue;
    }
    // On a connection that was made already, the same codes say nothing of what had been sent by then.
    if (syscall === 'read' || syscall === 'write') continue;
    if (UNSENT.test(code) || (syscall === 'connect' && code === 'ETIMEDOUT')) return ['unsent', code];
    if (BLOCKED.test(code) && !BROKEN_TLS.test(code)) return ['blocked', code];
  }
  return ['lost', causes.find(({ code }) => code !== undefined)?.code];
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
